"""Consistency (Theorem 5): the risk of models trained on bags converges to the Bayes risk.

Run it with ``python examples/consistency.py``. The data are two Gaussian classes in bags of eight
rows with unknown labels. The number of bags increases and λ follows ``consistent_reg_strength``.
The true balanced risks of the fitted models and the Bayes risk are exact.
"""

from decorrupt.theory import simulate_consistency

SEED = 0


def main() -> None:
    """Fit models for increasing numbers of rows and print their risks."""
    found = simulate_consistency(
        tuple(2**k for k in range(7, 16, 2)), n_repeats=8, random_state=SEED
    )
    print(f"{'rows':>8}{'λ':>10}{'logistic risk':>16}{'balanced error':>16}")
    for n_rows, reg_strength, risks, errors in zip(
        found.n_rows, found.reg_strengths, found.risks, found.errors, strict=True
    ):
        print(f"{n_rows:>8,}{reg_strength:>10.5f}{risks.mean():>16.4f}{errors.mean():>16.4f}")
    print(f"{'∞':>8}{'0':>10}{found.bayes_risk:>16.4f}{found.bayes_error:>16.4f}   (Bayes)")


if __name__ == "__main__":
    main()
