"""The names of the Python reference in groups, from which the site makes its index pages.

Names are written without "decorrupt.". A test reports public names that are in no group.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Group:
    """A heading, a sentence, the names below it, and constants with their descriptions."""

    title: str
    text: str
    names: list[str]
    constants: dict[str, str] = field(default_factory=dict)


USERS = [
    Group(
        "Start here: the automatic choice",
        "One class for bags and one for noisy labels. Both compare methods on held-out data and"
        " average the best, without labels: :doc:`/choose/choosing`.",
        ["AutoLabelProportionsClassifier", "AutoSourcesClassifier", "bag_targets", "Observed"],
    ),
    Group(
        "Can it be trusted?",
        "What the bags satisfy, and what can be said about a model without labels:"
        " :doc:`/understand/assumptions`.",
        [
            "check_assumptions",
            "AssumptionReport",
            "estimate_accuracy",
            "AccuracyEstimate",
            "model_selection.group_rate_accuracy",
            "model_selection.calibration_curve_from_proportions",
            "model_selection.bag_permutation_importance",
            "model_selection.fold_models",
            "Diagnostics",
            "model_selection.LeaderboardDisplay",
            "model_selection.BagCalibrationDisplay",
        ],
    ),
    Group(
        "Single methods for bags",
        "They learn from label proportions, and from ordinary labels: :doc:`/choose/all_methods`.",
        [
            "CountLikelihoodClassifier",
            "MeanMapClassifier",
            "CorrectedLossClassifier",
            "ProportionMatchingClassifier",
        ],
    ),
    Group(
        "Tables of margins",
        "The table group × outcome from the totals of places: :doc:`/howto/tables_of_margins`.",
        [
            "EcologicalInference",
            "ecological.TableCheck",
            "ecological.bounds",
            "ecological.fit_margins",
            "ecological.goodman",
        ],
    ),
    Group(
        "Single methods for noisy sources",
        "They learn from labels that are wrong at rates of their source:"
        " :doc:`/understand/corrupted_sources`.",
        [
            "CorruptedSourcesClassifier",
            "ForwardSourcesClassifier",
            "CostWeightedSourcesClassifier",
        ],
    ),
    Group(
        "Noise rates",
        "How often a source is wrong: :doc:`/understand/noise_rates`.",
        [
            "estimate_noise_rates_from_audit",
            "estimate_noise_rates_from_annotators",
            "estimate_noise_rates",
            "NoiseRates",
            "NoiseRateEstimate",
        ],
    ),
    Group(
        "Counts with noise",
        "For the parameter ``count_noise``: :doc:`/howto/privacy_protected_counts`.",
        ["GeometricNoise", "LaplaceNoise", "GaussianNoise"],
    ),
    Group(
        "Any learner",
        "Forests, boosted trees and your own: :doc:`/howto/trees_and_forests`.",
        [
            "EMClassifier",
            "label_posterior",
            "LabelPosterior",
            "count_objective",
        ],
    ),
    Group(
        "Neural networks",
        "A classifier, and losses for your own loop (extra ``torch``): :doc:`/howto/networks`.",
        [
            "torch.TorchBagClassifier",
            "torch.MLP",
            "torch.BagBatchSampler",
            "torch.count_loss",
            "torch.proportion_loss",
            "torch.corrected_loss",
            "torch.forward_loss",
        ],
    ),
    Group(
        "Larger than memory",
        "The same methods on Dask arrays and data frames: :doc:`/howto/large_data`.",
        [
            "distributed.DaskCountLikelihoodClassifier",
            "distributed.DaskMeanMapClassifier",
            "distributed.DaskCorrectedLossClassifier",
            "distributed.DaskCorruptedSourcesClassifier",
        ],
    ),
    Group(
        "Kernels and searches",
        "One method and its parameters: :doc:`/understand/kernels`, :doc:`/choose/searches`.",
        [
            "Kernel",
            "TailScaler",
            "BagGridSearchCV",
            "BagKFold",
            "model_selection.WithinBagKFold",
            "model_selection.bag_folds",
            "model_selection.BagScorer",
            "model_selection.count_score",
            "model_selection.corrected_accuracy",
            "model_selection.corrected_risk",
            "model_selection.proportion_risk",
        ],
    ),
    Group(
        "Model files",
        "Files that contain data and no code: :doc:`/reference/model_files`.",
        [
            "save",
            "load",
            "model_files.load_with_metadata",
            "model_files.ModelFileError",
        ],
    ),
    Group(
        "Data sets",
        "Rows in bags, or with noisy labels. Labels of training rows are not returned.",
        [
            "datasets.load_breast_cancer_bags",
            "datasets.load_digits_bags",
            "datasets.load_wine_bags",
            "datasets.make_bags",
            "datasets.make_corrupted_sources",
            "datasets.make_gaussian_classes",
        ],
    ),
    Group(
        "Warnings",
        "What to do about each: :doc:`/reference/warnings`.",
        [
            "exceptions.BagAssumptionWarning",
            "exceptions.ContradictedRatesWarning",
            "exceptions.DroppedBagsWarning",
            "exceptions.InexactPairingWarning",
            "exceptions.NegativeRiskWarning",
            "exceptions.NonConvexRiskWarning",
            "exceptions.OneClassWarning",
            "exceptions.RoundedCountsWarning",
            "exceptions.SkippedFoldWarning",
            "exceptions.UninformativeRatesWarning",
            "exceptions.UnscaledColumnsWarning",
            "exceptions.WeakEvidenceWarning",
        ],
    ),
    Group(
        "Theory",
        "Information, bounds and convexity: :doc:`/theory/index`.",
        [
            "theory.information",
            "theory.required_rows",
            "theory.combined_sample_size",
            "theory.weights_comparison",
            "theory.bound_bags",
            "theory.bound_common_source",
            "theory.bound_label_proportions",
            "theory.bound_master",
            "theory.bound_transitions",
            "theory.bound_varying_priors",
            "theory.replacement_change",
            "theory.corrected_lipschitz",
            "theory.is_convex",
            "theory.is_bounded_below",
            "theory.convexity_floor",
            "theory.aggregate_condition",
        ],
    ),
    Group(
        "The paper's algebra",
        "From proportions and noise rates to the coefficients of a risk:"
        " :doc:`/theory/corrected_risk`.",
        [
            "corruption.combine_bags",
            "corruption.pair_bags",
            "corruption.CorrectedLoss",
            "corruption.corrupt_labels",
            "corruption.signal_to_noise",
            "corruption.source_weights",
            "losses.get_loss",
        ],
        {"losses.LOSSES": "The losses by name: logistic, squared, huber and sigmoid."},
    ),
    Group(
        "Baselines",
        "Published methods to compare with. They have scores, but no probabilities.",
        [
            "baselines.InvCalClassifier",
            "baselines.AlternatingPSVMClassifier",
        ],
    ),
    Group(
        "Results",
        "What the functions and classes above return.",
        [
            "model_selection.Leaderboard",
            "model_selection.AveragedClassifier",
            "model_selection.Estimate",
            "model_selection.CalibrationBin",
            "assumptions.ColumnDispersion",
            "noise_rates.AnnotatorEstimate",
            "datasets.BagDataset",
            "datasets.Bags",
            "datasets.CorruptedSources",
            "datasets.GaussianClasses",
            "datasets.GaussianData",
            "theory.Information",
            "theory.RequiredRows",
            "theory.WeightsComparison",
        ],
    ),
]

BUILDING_BLOCKS = [
    Group(
        "Other engines",
        "What Dask's workers run, for Spark and Ray: :doc:`/howto/spark_and_ray`.",
        [
            "distributed.partition_value_and_gradient",
            "distributed.Chunk",
            "distributed.Partition",
            "distributed.ScoreModel",
        ],
    ),
    Group(
        "What is known about labels",
        "Bags, counts, ranges, noise, sources and labels become one object, which everything"
        " else uses.",
        [
            "observed.ClassCounts",
            "observed.Sources",
            "observed.as_observed",
            "observed.read_sources",
            "observed.read_labels",
            "observed.check_bags",
            "observed.class_columns",
            "observed.resolve_class_prior",
            "observed.factorize",
        ],
    ),
    Group(
        "Corruption",
        "From corrupted labels to the coefficients of a risk.",
        [
            "corruption.backward_coefficients",
            "corruption.bag_information",
            "corruption.label_costs",
            "corruption.row_coefficients",
        ],
        {
            "corruption.COMBINATION_METHODS": "Names of the methods of"
            " :func:`decorrupt.corruption.combine_bags`.",
            "corruption.WEIGHT_SCHEMES": "Names of the schemes of"
            " :func:`decorrupt.corruption.source_weights`.",
        },
    ),
    Group(
        "Losses",
        "Margin losses φ(y·t): values, derivatives and constants.",
        [
            "losses.class_loss",
            "losses.SoftmaxLoss",
            "losses.probabilities",
            "losses.prior_scores",
            "losses.shift_prior",
            "losses.HuberLoss",
            "losses.LogisticLoss",
            "losses.MarginLoss",
            "losses.SigmoidLoss",
            "losses.SquaredLoss",
        ],
    ),
    Group(
        "Features",
        "Linear features, low-rank features of a kernel, and graph diffusion.",
        [
            "features.FeatureMap",
            "features.as_kernel",
            "features.fit_feature_map",
            "features.kernel_name",
            "features.kernel_scores",
            "features.resolve_kernel_gamma",
        ],
        {
            "features.KERNELS": "Names of the kernels.",
            "features.WITHOUT_GAMMA": "Names of the kernels without the parameter"
            " ``kernel_gamma``.",
        },
    ),
    Group(
        "Risks",
        "Smooth functions of the scores of all rows.",
        [
            "risks.CorrectedRisk",
            "risks.ScoreRisk",
        ],
        {
            "risks.Operator": "The type of a curvature: a function that multiplies the"
            " Hessian with a vector.",
        },
    ),
    Group(
        "Solvers",
        "Minimisers of risk(Zθ) + λ‖θ‖².",
        [
            "solvers.Problem",
            "solvers.Solution",
            "solvers.Objective",
            "solvers.SolverResult",
            "solvers.convexity_floor",
            "solvers.is_minimum",
            "solvers.least_admissible_reg",
            "solvers.solve",
            "solvers.solve_lbfgs",
            "solvers.solve_newton",
            "solvers.solve_problem",
        ],
        {
            "solvers.DEFAULT_MAX_ITER": "Largest number of iterations, 1,000.",
            "solvers.DEFAULT_TOL": "Norm of the gradient at which solvers stop, 1e-6.",
        },
    ),
]
