"""What is said about data and models: assumptions, accuracy, warnings and limits of use."""

from __future__ import annotations

from collections.abc import Sequence

from decorrupt.app.training.model_card import ModelCard, class_names, share_of_positives
from decorrupt.app.training.results import AssumptionChecks, ExpectedAccuracy

FEW_CLEAN_ROWS, FEW_BAGS = 30, 5
# Of the posterior draws, for a comparison with guessing by the bags.
PROBABLY_BETTER = 0.8
# Methods that assume a common P(y|x) instead of common class distributions.
COMMON_PROBABILITIES = (
    "count_likelihood",
    "proportion_matching",
    "alternating_psvm",
    "em",
)
ESTIMATED_RATES = (
    "the noise rates were estimated from the labels: this is valid only if some rows are certainly "
    "positive, some certainly negative, and the errors depend on the class only"
)


def listed(names: Sequence[str]) -> str:
    """Return names as in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def measure_name(n_classes: int) -> str:
    """Return what the balanced accuracy is called for this number of classes."""
    return "balanced accuracy" if n_classes == 2 else "mean recall"


def classes_sentence(checks: AssumptionChecks) -> str:
    """Return what the test of (A), common class distributions, found."""
    if checks["classes_differ"] is None:
        return "these bags cannot show whether they differ in more than their share"
    if not checks["classes_differ"]:
        return "nothing shows that your groups differ in more than their share"
    return f"your groups differ in more than their share, mostly in {listed(checks['columns'])}"


def chances_sentence(checks: AssumptionChecks) -> str:
    """Return what the test of (B), common P(y|x), found."""
    if checks["chances_differ"] is None:
        return "these bags cannot show whether something outside your columns changes their shares"
    if not checks["chances_differ"]:
        return "nothing shows that something outside your columns changes the shares"
    points = max(100 * checks["bag_effect"], 1)
    return (
        f"the shares of your groups also vary by about {points:.0f} points for reasons that no "
        "column shows"
    )


def method_sentence(checks: AssumptionChecks) -> str:
    """Return what the tests mean for the choice of the method."""
    if checks["classes_differ"] and checks["chances_differ"]:
        return "one method tolerates both, count likelihood with a bag effect; auto uses it"
    if checks["classes_differ"]:
        return (
            "mean map and corrected loss do not tolerate this, the count likelihood does; auto "
            "uses it"
        )
    if checks["chances_differ"]:
        return "auto uses methods that tolerate this"
    if checks["classes_differ"] is None or checks["chances_differ"] is None:
        return "what could not be tested can fail: auto compares the methods on held-out data"
    return "all methods can be used"


def accuracy_words(expected: ExpectedAccuracy) -> str:
    """Return the accuracy to expect with its interval."""
    low, high = f"{expected['low']:.2f}", f"{expected['high']:.2f}"
    return f"{expected['value']:.3f} ({expected['level']:.0%} interval {low} to {high})"


def warnings_on_bags(card: ModelCard) -> list[str]:
    """Return what speaks against a model of bags, unless its verdict already says it."""
    bags, expected, checks = card["bags"], card["expected"], card.get("assumptions")
    n_classes, chosen = len(card["class_shares"]), card["method"]["chosen"]
    messages = []
    if checks is not None and checks["classes_differ"] and chosen not in COMMON_PROBABILITIES:
        messages.append(
            f"{chosen.replace('_', '-')} is wrong for groups that differ in more than their share: "
            "use --method auto"
        )
    # With common class distributions the chances must differ between bags of different shares.
    if checks and checks["chances_differ"] and checks["classes_differ"] is not False:
        messages.append(chances_sentence(checks))
    if expected["better_than_group_rate"] < PROBABLY_BETTER:
        messages.append(
            f"guessing each row by its {card['bag_column']} scores {expected['group_rate']:.3f}: "
            "the bags do not show that the model is better"
        )
    # For several classes it describes the mean map only; count likelihoods need far fewer rows.
    if n_classes == 2 and bags["effective_sample_size"] < FEW_CLEAN_ROWS:
        worth = bags["effective_sample_size"]
        messages.append(f"the bags are worth about {worth:.0f} labelled rows: expect little")
    diagnostics = card["diagnostics"]
    if diagnostics and not diagnostics["is_convex"]:
        messages.append(
            "the objective may have several minima: another seed may give another model"
        )
    return messages


def warnings_on_sources(card: ModelCard) -> list[str]:
    """Return what speaks against a model of noisy labels."""
    messages = [ESTIMATED_RATES] if card["noise_rates"] == "estimated" else []
    worth = card["sources"]["effective_sample_size"]
    if worth < FEW_CLEAN_ROWS:
        messages.append(f"the noisy labels are worth about {worth:.0f} clean ones: expect little")
    return messages


def limits_of_use(card: ModelCard) -> list[str]:
    """Return what the model must not be used for, as completions of "Do not use it …"."""
    method, n_classes = card["method"], len(class_names(card))
    limits = []
    if card["verdict"]["word"] == "do not use":
        limits.append("until an evaluation shows that it beats chance")
    if card["situation"] == "sources":
        limits.append(
            "for sources with noise rates other than in training; noise that depends on more than "
            "the class is not corrected"
        )
    elif method["chosen"] in COMMON_PROBABILITIES:
        limits.append("for bags where P(class | columns) differs from training")
    else:
        limits.append("for bags in which the rows of a class look different from those in training")
    population = f"share of positives is not near {share_of_positives(card):.1%}"
    if n_classes > 2:
        population = "shares of the classes are not near those of the training rows"
    limits.append(f"with unchanged probabilities if the {population}: give --class-prior")
    limits.append(
        "for decisions about single cases before it was checked on labelled rows with "
        "'decorrupt evaluate'"
    )
    if method["n_landmarks"]:
        limits.append(
            "as a public file if the rows are confidential: it contains the features of "
            f"{method['n_landmarks']} training rows, the landmarks of its kernel"
        )
    return limits
