"""The paper's experiments, their report, and simulations of its theory: not in the wheel.

``python -m reproduction --help`` shows the commands.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
