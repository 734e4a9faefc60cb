"""The risk of a model trained on bags falls to the least there is, as Theorem 5 says.

Run it with ``python examples/consistency.py``. Two Gaussian classes, bags of eight rows whose
labels nobody sees, ever more bags, and λ by the schedule of ``consistent_reg_strength``. The true
balanced risk of every fitted model is computed exactly, and so is the least possible.
"""

from decorrupt.theory import simulate_consistency

SEED = 0


def main() -> None:
    """Fit at growing sizes and print the risks."""
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
