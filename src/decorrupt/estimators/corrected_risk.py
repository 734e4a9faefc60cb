"""Base class of the corrected-loss classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from decorrupt._typing import FloatArray
from decorrupt.corruption import RiskTerms, Strata
from decorrupt.estimators.class_diagnostics import ClassDiagnostics, describe_class_strata
from decorrupt.estimators.default_strength import AUTO
from decorrupt.estimators.diagnostics import (
    Diagnostics,
    describe_dropped,
    describe_overfitting,
    describe_risk,
    describe_strata,
    generalization_bound,
    within_std_error,
)
from decorrupt.estimators.priors import class_probabilities, decision_threshold
from decorrupt.estimators.score_classifier import ScoreClassifier
from decorrupt.exceptions import DroppedBagsWarning, NegativeRiskWarning, NonConvexRiskWarning
from decorrupt.features import FeatureMap
from decorrupt.losses import MarginLoss, get_loss
from decorrupt.risks import CorrectedRisk
from decorrupt.risks.multiclass import ClassCorrectedRisk
from decorrupt.solvers import (
    SolverResult,
    convexity_floor,
    is_gradient_descent,
    is_minimum,
    least_admissible_reg,
)

CONVEX_CHOICES = ("check", "project", "ignore")


def _score_is_log_odds(estimator: Any) -> bool:
    if get_loss(estimator.loss).name != "logistic":
        raise AttributeError(
            f"predict_proba needs loss='logistic', whose scores are log-odds; "
            f"this model has loss={estimator.loss!r}"
        )
    return True


class CorrectedRiskClassifier(ScoreClassifier):
    """min_f Σ_j coef_pos·ℓ(f_j,1) + coef_neg·ℓ(f_j,−1) + λ‖f‖², for given coefficients."""

    diagnostics_: Any  # Diagnostics, or ClassDiagnostics for several classes

    def _threshold(self, prior: Any) -> Any:
        return decision_threshold(self.decision, prior, get_loss(self.loss).score_at)

    def _fit_terms(
        self,
        X: Any,
        features: FeatureMap,
        terms: RiskTerms,
        strata: Strata,
        dropped: dict[str, list[Any]],
        word: str,
    ) -> FloatArray:
        """Minimise the risk, store the model and its diagnostics, return the rows' scores."""
        loss = get_loss(self.loss)
        risk = CorrectedRisk(terms, loss, self.risk_correction)
        self._set_reg_strength(X, features, terms.effective_sample_size)
        floor = self._check_reg_strength(features, terms, loss)
        if dropped:
            self._note(DroppedBagsWarning, describe_dropped(dropped, word))
        result, scores = self._fit_scores(X, features, risk)
        self._describe(
            strata,
            describe_risk(terms, loss, scores, strata),
            result,
            word,
            dropped=dropped,
            bound=self._bound(X, features, terms, result.coef[: features.rank]),
            convexity_floor=floor,
        )
        self._note_unconverged(result)
        if self.risk_correction is None:
            self._note_risk(features, terms, loss, scores)
        return scores

    def _describe(
        self, strata: Strata, risk: dict[str, Any], result: SolverResult, word: str, **others: Any
    ) -> None:
        """Set the diagnostics of two classes; `risk` is from :func:`describe_risk`."""
        self.diagnostics_ = Diagnostics(
            **describe_strata(strata),
            **risk,
            **others,
            target_prior=self.score_prior_,
            radius=float(np.linalg.norm(result.coef[: self.kernel_rank_])),
            reg_strength=self.reg_strength_,
            kernel_rank=self.kernel_rank_,
            kernel_error=self.kernel_error_,
            solver=self.solver_,
            solver_status=result.status,
            n_iter=result.n_iter,
            gradient_norm=result.gradient_norm,
            stratum_word=word,
        )

    def _bound(self, X: Any, features: FeatureMap, terms: RiskTerms, theta: FloatArray) -> float:
        """Return the generalisation bound; NaN with an intercept, which it does not cover."""
        if self.fit_intercept:
            return float("nan")
        kernel_bound = float(np.sqrt(self._kernel_diagonal(X, features).max()))
        radius = float(np.linalg.norm(theta))
        return generalization_bound(terms, get_loss(self.loss), radius, kernel_bound)

    def _check_class_options(self, **choices: tuple[Any, ...]) -> None:
        """Raise ValueError for a parameter with a value that is for two classes only."""
        choices |= {"risk_correction": (None,), "convex": ("check", "ignore")}
        name = get_loss(self.loss).name
        if name != "logistic":
            raise ValueError(
                f"Only binary classification is supported by loss={name!r}: for several classes "
                "use loss='logistic'"
            )
        for parameter, fine in choices.items():
            value = getattr(self, parameter)
            if value not in fine:
                raise ValueError(
                    f"Only binary classification is supported by {parameter}={value!r}: for "
                    f"several classes choose {' or '.join(map(repr, fine))}"
                )

    def _fit_classes(
        self, X: Any, features: FeatureMap, risk: Any, strata: Strata, word: str = "bags"
    ) -> FloatArray:
        """Minimise the risk of several classes, store the model and its diagnostics."""
        self._set_reg_strength(X, features, risk.effective_sample_size)
        self._refuse_unbounded_classes(risk)
        result, scores = self._fit_scores(X, features, risk)
        value = risk.value_and_slope(scores)[0]
        std_error = within_std_error(risk.row_values(scores), strata)
        self._describe_classes(strata, risk, value, std_error, result, word)
        self._note_unconverged(result)
        if self.diagnostics_.is_overfitted:
            self._note(NegativeRiskWarning, describe_overfitting(value, std_error))
        return scores

    def _refuse_unbounded_classes(self, risk: ClassCorrectedRisk) -> None:
        if not (self.reg_strength_ > 0 or risk.is_bounded_below):
            raise ValueError(
                "reg_strength=0: the corrected risk has negative coefficients and is unbounded "
                "below, so it has no minimum. Set reg_strength above 0"
            )

    def _describe_classes(
        self,
        strata: Strata,
        risk: ClassCorrectedRisk,
        value: float,
        std_error: float,
        result: SolverResult,
        word: str,
    ) -> None:
        """Set the diagnostics of several classes; `value` is the risk at the solution."""
        self.diagnostics_ = ClassDiagnostics(
            **describe_class_strata(strata, self.classes_.tolist()),
            target_prior=self.score_prior_,
            is_convex=risk.is_convex,
            training_risk=value,
            risk_std_error=std_error,
            solver=self.solver_,
            solver_status=result.status,
            n_iter=result.n_iter,
            gradient_norm=result.gradient_norm,
            stratum_word=word,
        )

    def _note_risk(
        self, features: FeatureMap, terms: RiskTerms, loss: MarginLoss, scores: FloatArray
    ) -> None:
        """Note a risk far below zero, and a solution that is not a minimum."""
        found = self.diagnostics_
        if found.is_overfitted:
            advice = describe_overfitting(found.training_risk, found.risk_std_error)
            self._note(NegativeRiskWarning, f"{advice}, or set risk_correction='abs'")
        is_checked = self.convex == "check" and not found.is_convex_at_reg_strength
        problem = (features.matrix, terms, loss, scores, self.reg_strength_)
        if is_checked and not is_minimum(*problem, fit_intercept=self.fit_intercept):
            self._note(
                NonConvexRiskWarning,
                f"the objective is not convex at reg_strength={self.reg_strength_:g}, and the "
                f"solver did not stop at a minimum. {_convex_from(found.convexity_floor)}. "
                "convex='project', or target_prior='pooled' with combine='least_squares', also "
                "makes it convex. convex='ignore' turns this warning off",
            )

    def _refuse_unbounded(self, terms: RiskTerms, loss: MarginLoss) -> None:
        if self.convex not in CONVEX_CHOICES:
            raise ValueError(
                f"unknown convex={self.convex!r}: choose one of {', '.join(CONVEX_CHOICES)}"
            )
        if self._has_lower_bound() or self.reg_strength_ > 0 or terms.is_bounded_below(loss):
            return
        raise ValueError(
            f"reg_strength=0 with the {loss.name} loss: the corrected risk has negative "
            "coefficients and is unbounded below, so it has no minimum. Set reg_strength above 0, "
            "risk_correction='abs', the bounded loss='sigmoid', or solver='gradient_descent', "
            "whose fixed number of steps regularises"
        )

    def _has_lower_bound(self) -> bool:
        return is_gradient_descent(self.solver) or self.risk_correction is not None

    def _check_reg_strength(
        self, features: FeatureMap, terms: RiskTerms, loss: MarginLoss
    ) -> float:
        """Raise ValueError if there is no minimum at this λ; return the convexity floor."""
        self._refuse_unbounded(terms, loss)
        problem = {
            "features": features.matrix,
            "terms": terms,
            "loss": loss,
            "fit_intercept": self.fit_intercept,
        }
        least = 0.0 if self._has_lower_bound() else least_admissible_reg(**problem)
        if self.reg_strength == AUTO and np.isfinite(least):
            self.reg_strength_ = max(self.reg_strength_, 2 * least)
        if least and self.reg_strength_ <= least:
            raise ValueError(
                f"reg_strength={self.reg_strength_:g} is too small for the {loss.name} loss: the "
                f"negative curvature of its corrected risk exceeds that of the penalty, so the "
                f"objective is unbounded below. Set reg_strength above {least:.3g}, "
                "convex='project', or loss='logistic'"
            )
        return convexity_floor(**problem)

    @available_if(_score_is_log_odds)
    def predict_proba(self, X: Any, class_prior: Any = None) -> FloatArray:
        """Return P(Y | x) in a population with the class shares `class_prior`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_columns)
            Rows to score.
        class_prior : float in (0, 1), or array-like of shape (n_classes,), optional
            The share of positives in the population of the rows; for several classes the share of
            each class. Default: `score_prior_`, the shares the model was trained for.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns in the order of `classes_`.
        """
        return class_probabilities(self._raw_scores(X), self.score_prior_, class_prior)


def _convex_from(floor: float) -> str:
    if floor == float("inf"):
        return (
            "With an intercept no reg_strength guarantees convexity; with fit_intercept=False a "
            "large one does"
        )
    return f"It is convex from reg_strength={floor:.3g} on"
