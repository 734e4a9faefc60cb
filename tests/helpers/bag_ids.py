"""The bags b, a, b, c in every container of ids."""

import numpy as np
import pandas as pd
import polars as pl

STRING_IDS = {
    "list": ["b", "a", "b", "c"],
    "tuple": ("b", "a", "b", "c"),
    "array": np.array(["b", "a", "b", "c"]),
    "object array": np.array(["b", "a", "b", "c"], dtype=object),
    "column": np.array([["b"], ["a"], ["b"], ["c"]]),
    "pandas Series": pd.Series(["b", "a", "b", "c"], index=[9, 9, 3, 4]),
    "pandas frame": pd.DataFrame({"bag": ["b", "a", "b", "c"]}),
    "pandas index": pd.Index(["b", "a", "b", "c"]),
    "categorical": pd.Categorical(["b", "a", "b", "c"], categories=["c", "b", "unused", "a"]),
    "categorical Series": pd.Series(["b", "a", "b", "c"], dtype="category"),
    "polars Series": pl.Series(["b", "a", "b", "c"]),
    "polars categorical": pl.Series(["b", "a", "b", "c"], dtype=pl.Categorical),
}
