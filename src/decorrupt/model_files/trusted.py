"""Types that a model file may contain, each with the loader of skops that creates it.

The list is fixed and shorter than the list that skops trusts by default. These types are excluded
on purpose: operator.attrgetter and methodcaller, functools.partial and bound methods (they call
what the file names), constructors with arguments from the file, defaultdict (calls its factory),
libsvm models and histogram-based boosting (their compiled code uses indices from the file
unchecked; those of trees and forests are checked in :mod:`decorrupt.model_files.trees`), functions
other than numpy's arithmetic, and formats of older skops versions.
"""

from __future__ import annotations

from functools import cache

OURS = frozenset(
    f"decorrupt.{name}"
    for name in (
        "assumptions.count_dispersion.CountDispersionTest",
        "assumptions.report.AssumptionReport",
        "baselines.alternating_psvm.AlternatingPSVMClassifier",
        "baselines.invcal.InvCalClassifier",
        "corruption.common_classes.ClassMeansTest",
        "ecological.inference.EcologicalInference",
        "estimators.corrupted_sources.CorruptedSourcesClassifier",
        "estimators.count_likelihood.CountLikelihoodClassifier",
        "estimators.corrected_loss.Diagnostics",
        "estimators.forward_sources.ForwardSourcesClassifier",
        "estimators.corrected_loss.CorrectedLossClassifier",
        "estimators.mean_map.MeanMapClassifier",
        "estimators.proportion_matching.ProportionMatchingClassifier",
        "features.kernel.Kernel",
        "features.columns.TailScaler",
        "meta.cost_weighted.CostWeightedSourcesClassifier",
        "meta.em.EMClassifier",
        "meta.start.LikelihoodStart",
        "model_selection.accuracy.AccuracyEstimate",
        "model_selection.auto.AutoLabelProportionsClassifier",
        "model_selection.auto_sources.AutoSourcesClassifier",
        "model_selection.averaged.AveragedClassifier",
        "model_selection.calibration.CalibratedBagClassifier",
        "model_selection.leaderboard.Leaderboard",
        "model_selection.scorers.BagScorer",
        "model_selection.search.BagGridSearchCV",
        "noise_rates.result.NoiseRateEstimate",
        "observed.count_noise.GaussianNoise",
        "observed.count_noise.GeometricNoise",
        "observed.count_noise.LaplaceNoise",
        "observed.rates.NoiseRates",
        "splitters.BagKFold",
        "splitters.WithinBagKFold",
    )
)
# Preprocessing steps of a pipeline: they contain plain arrays and do plain arithmetic.
SKLEARN = frozenset(
    f"sklearn.{name}"
    for name in (
        "compose._column_transformer.ColumnTransformer",
        "decomposition._pca.PCA",
        "decomposition._truncated_svd.TruncatedSVD",
        "feature_extraction.text.CountVectorizer",
        "feature_extraction.text.HashingVectorizer",
        "feature_extraction.text.TfidfTransformer",
        "feature_extraction.text.TfidfVectorizer",
        "feature_selection._variance_threshold.VarianceThreshold",
        "impute._base.MissingIndicator",
        "impute._base.SimpleImputer",
        "kernel_approximation.Nystroem",
        "kernel_approximation.RBFSampler",
        "model_selection._split._CVIterableWrapper",
        "pipeline.FeatureUnion",
        "pipeline.Pipeline",
        "preprocessing._data.Binarizer",
        "preprocessing._data.MaxAbsScaler",
        "preprocessing._data.MinMaxScaler",
        "preprocessing._data.Normalizer",
        "preprocessing._data.PowerTransformer",
        "preprocessing._data.QuantileTransformer",
        "preprocessing._data.RobustScaler",
        "preprocessing._data.StandardScaler",
        "preprocessing._discretization.KBinsDiscretizer",
        "preprocessing._encoders.OneHotEncoder",
        "preprocessing._encoders.OrdinalEncoder",
        "preprocessing._function_transformer.FunctionTransformer",
        "preprocessing._polynomial.PolynomialFeatures",
    )
)
# Their nodes are checked in :mod:`decorrupt.model_files.trees`.
TREE = "sklearn.tree._tree.Tree"
TREE_MODELS = frozenset(
    f"sklearn.{name}"
    for name in (
        "ensemble._forest.ExtraTreesClassifier",
        "ensemble._forest.ExtraTreesRegressor",
        "ensemble._forest.RandomForestClassifier",
        "ensemble._forest.RandomForestRegressor",
        "tree._classes.DecisionTreeClassifier",
        "tree._classes.DecisionTreeRegressor",
        "tree._classes.ExtraTreeClassifier",
        "tree._classes.ExtraTreeRegressor",
    )
)
# Learners of EM and of label-dependent costs, whose fitted state is plain arrays.
LEARNERS = frozenset(
    f"sklearn.{name}"
    for name in (
        "linear_model._base.LinearRegression",
        "linear_model._logistic.LogisticRegression",
        "linear_model._ridge.Ridge",
        "multioutput.MultiOutputRegressor",
        "naive_bayes.BernoulliNB",
        "naive_bayes.GaussianNB",
        "naive_bayes.MultinomialNB",
        "neural_network._multilayer_perceptron.MLPRegressor",
    )
)
SCALARS = frozenset(
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "str_", "object_", "float16", "float32", "float64"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
SPARSE = frozenset(
    f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("matrix", "array")
)
# A key is stored as text and converted to its type when loaded: bool("False") would be True.
KEY_TYPES = SCALARS - {"numpy.bool", "numpy.bool_"} | {
    f"builtins.{name}" for name in ("str", "int", "float")
}
# Where numpy's arithmetic is found: its name in a file depends on the version of numpy.
UFUNC_MODULES = ("numpy", "numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
# Attributes that must be null: a pipeline's memory is a directory of pickles.
NULL_ATTRIBUTES = {"sklearn.pipeline.Pipeline": ("memory",)}


@cache
def trusted_types() -> dict[str, frozenset[str]]:
    """Return the types that each loader may create."""
    import numpy as np

    arithmetic = [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)]
    return {
        "DictNode": frozenset({"builtins.dict"}),
        "DTypeNode": frozenset({"numpy.dtype"}),
        "FunctionNode": frozenset(f"{m}.{name}" for m in UFUNC_MODULES for name in arithmetic),
        "JsonNode": frozenset({"builtins.str"}),
        "ListNode": frozenset({"builtins.list"}),
        "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"}),
        "NdArrayNode": SCALARS | {"numpy.ndarray"},
        "ObjectNode": OURS | SKLEARN | LEARNERS | TREE_MODELS,
        "RandomStateNode": frozenset({"numpy.random.mtrand.RandomState"}),
        "SetNode": frozenset({"builtins.set"}),
        "SliceNode": frozenset({"builtins.slice"}),
        "SparseMatrixNode": SPARSE,
        "TreeNode": frozenset({TREE}),
        "TupleNode": frozenset({"builtins.tuple"}),
        "TypeNode": KEY_TYPES | SCALARS | {"builtins.bool"},
    }
