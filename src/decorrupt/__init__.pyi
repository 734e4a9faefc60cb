"""The public names, and where each of them is defined."""

from . import (
    baselines,
    corruption,
    datasets,
    distributed,
    exceptions,
    losses,
    model_selection,
    theory,
    torch,
)
from .assumptions import (
    AssumptionReport,
    check_assumptions,
)
from .ecological import EcologicalInference
from .estimators import (
    CorrectedLossClassifier,
    CorruptedSourcesClassifier,
    CountLikelihoodClassifier,
    Diagnostics,
    ForwardSourcesClassifier,
    MeanMapClassifier,
    ProportionMatchingClassifier,
)
from .features import (
    Kernel,
    TailScaler,
)
from .meta import (
    CostWeightedSourcesClassifier,
    EMClassifier,
    count_objective,
)
from .model_files import (
    load,
    save,
)
from .model_selection import (
    AccuracyEstimate,
    AutoLabelProportionsClassifier,
    AutoSourcesClassifier,
    BagGridSearchCV,
    BagKFold,
    estimate_accuracy,
)
from .noise_rates import (
    NoiseRateEstimate,
    estimate_noise_rates,
    estimate_noise_rates_from_annotators,
    estimate_noise_rates_from_audit,
)
from .observed import (
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    NoiseRates,
    Observed,
    bag_targets,
)
from .risks import (
    LabelPosterior,
    label_posterior,
)

__version__: str

__all__ = [
    "AccuracyEstimate",
    "AssumptionReport",
    "AutoLabelProportionsClassifier",
    "AutoSourcesClassifier",
    "BagGridSearchCV",
    "BagKFold",
    "CorrectedLossClassifier",
    "CorruptedSourcesClassifier",
    "CostWeightedSourcesClassifier",
    "CountLikelihoodClassifier",
    "Diagnostics",
    "EMClassifier",
    "EcologicalInference",
    "ForwardSourcesClassifier",
    "GaussianNoise",
    "GeometricNoise",
    "Kernel",
    "LabelPosterior",
    "LaplaceNoise",
    "MeanMapClassifier",
    "NoiseRateEstimate",
    "NoiseRates",
    "Observed",
    "ProportionMatchingClassifier",
    "TailScaler",
    "bag_targets",
    "baselines",
    "check_assumptions",
    "corruption",
    "count_objective",
    "datasets",
    "distributed",
    "estimate_accuracy",
    "estimate_noise_rates",
    "estimate_noise_rates_from_annotators",
    "estimate_noise_rates_from_audit",
    "exceptions",
    "label_posterior",
    "load",
    "losses",
    "model_selection",
    "save",
    "theory",
    "torch",
]
