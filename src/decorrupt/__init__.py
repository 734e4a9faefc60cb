"""Train classifiers from labels nobody trusts: corrupted sources and label proportions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decorrupt import theory
    from decorrupt.corruption import (
        BagPairs,
        NoiseRates,
        bag_targets,
        combine_strata,
        corrected_loss,
        corrupt_labels,
        pair_bags,
        signal_to_noise,
        source_weights,
    )
    from decorrupt.estimators import (
        AlternatingPSVMClassifier,
        CorrectedLossClassifier,
        CorruptedSourcesClassifier,
        CountLikelihoodClassifier,
        Diagnostics,
        ForwardSourcesClassifier,
        InvCalClassifier,
        MeanMapClassifier,
        ProportionMatchingClassifier,
        SetClassifier,
    )
    from decorrupt.exceptions import (
        DroppedBagsWarning,
        InexactPairingWarning,
        NegativeRiskWarning,
        NonConvexRiskWarning,
        OneClassWarning,
        RoundedCountsWarning,
        SkippedFoldWarning,
        UninformativeRatesWarning,
    )
    from decorrupt.losses import LOSSES, get_loss
    from decorrupt.model_files import load, save
    from decorrupt.model_selection import (
        BAG_SCORERS,
        AutoLabelProportionsClassifier,
        BagGridSearchCV,
        BagKFold,
        BagRandomizedSearchCV,
        BagScorer,
        CorrectedLossClassifierCV,
        CountLikelihoodClassifierCV,
        WithinBagKFold,
        corrected_accuracy,
        corrected_risk,
        count_score,
        proportion_risk,
    )
    from decorrupt.noise_rates import (
        NoiseRateEstimate,
        estimate_noise_rates,
        estimate_noise_rates_from_annotators,
        estimate_noise_rates_from_audit,
        sensitivity,
    )

__version__ = "0.1.0"

__all__ = [
    "BAG_SCORERS",
    "LOSSES",
    "AlternatingPSVMClassifier",
    "AutoLabelProportionsClassifier",
    "BagGridSearchCV",
    "BagKFold",
    "BagPairs",
    "BagRandomizedSearchCV",
    "BagScorer",
    "CorrectedLossClassifier",
    "CorrectedLossClassifierCV",
    "CorruptedSourcesClassifier",
    "CountLikelihoodClassifier",
    "CountLikelihoodClassifierCV",
    "Diagnostics",
    "DroppedBagsWarning",
    "ForwardSourcesClassifier",
    "InexactPairingWarning",
    "InvCalClassifier",
    "MeanMapClassifier",
    "NegativeRiskWarning",
    "NoiseRateEstimate",
    "NoiseRates",
    "NonConvexRiskWarning",
    "OneClassWarning",
    "ProportionMatchingClassifier",
    "RoundedCountsWarning",
    "SetClassifier",
    "SkippedFoldWarning",
    "UninformativeRatesWarning",
    "WithinBagKFold",
    "bag_targets",
    "combine_strata",
    "corrected_accuracy",
    "corrected_loss",
    "corrected_risk",
    "corrupt_labels",
    "count_score",
    "estimate_noise_rates",
    "estimate_noise_rates_from_annotators",
    "estimate_noise_rates_from_audit",
    "get_loss",
    "load",
    "pair_bags",
    "proportion_risk",
    "save",
    "sensitivity",
    "signal_to_noise",
    "source_weights",
    "theory",
]

# Where each public name stands. Nothing is imported before it is asked for, so that the command
# line answers at once.
_HOMES = {
    "corruption": (
        "BagPairs",
        "NoiseRates",
        "bag_targets",
        "combine_strata",
        "corrected_loss",
        "corrupt_labels",
        "pair_bags",
        "signal_to_noise",
        "source_weights",
    ),
    "estimators": (
        "AlternatingPSVMClassifier",
        "CorruptedSourcesClassifier",
        "CountLikelihoodClassifier",
        "Diagnostics",
        "ForwardSourcesClassifier",
        "InvCalClassifier",
        "CorrectedLossClassifier",
        "MeanMapClassifier",
        "ProportionMatchingClassifier",
        "SetClassifier",
    ),
    "exceptions": (
        "DroppedBagsWarning",
        "InexactPairingWarning",
        "NegativeRiskWarning",
        "NonConvexRiskWarning",
        "OneClassWarning",
        "RoundedCountsWarning",
        "SkippedFoldWarning",
        "UninformativeRatesWarning",
    ),
    "losses": (
        "LOSSES",
        "get_loss",
    ),
    "model_files": (
        "load",
        "save",
    ),
    "model_selection": (
        "BAG_SCORERS",
        "AutoLabelProportionsClassifier",
        "BagGridSearchCV",
        "BagKFold",
        "BagRandomizedSearchCV",
        "BagScorer",
        "CountLikelihoodClassifierCV",
        "CorrectedLossClassifierCV",
        "WithinBagKFold",
        "corrected_accuracy",
        "corrected_risk",
        "count_score",
        "proportion_risk",
    ),
    "noise_rates": (
        "NoiseRateEstimate",
        "estimate_noise_rates",
        "estimate_noise_rates_from_annotators",
        "estimate_noise_rates_from_audit",
        "sensitivity",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name, or a subpackage, when it is first asked for."""
    if name in _MODULE_OF:
        value = getattr(import_module(f"decorrupt.{_MODULE_OF[name]}"), name)
    elif name in _HOMES or name in __all__:
        value = import_module(f"decorrupt.{name}")
    else:
        raise AttributeError(f"module 'decorrupt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
