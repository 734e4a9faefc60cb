"""Fitting n rows at rank 256 takes O(n·rank²) time and a few n·rank of memory.

Each n runs in its own process, because peak memory is per process.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

RANK = 256
SIZES = [2_000, 20_000, 200_000]
BAG_SIZE = 20
# Linear growth is slope 1; fixed costs below 20,000 rows lower it, so only steeper growth fails.
STEEPEST = 1.15


def fit(n_rows):
    from decorrupt import CorrectedLossClassifier

    rng = np.random.default_rng(0)
    shares = rng.choice([0.1, 0.3, 0.7, 0.9], n_rows // BAG_SIZE)
    bags = np.repeat(np.arange(len(shares)), BAG_SIZE)
    labels = rng.random(n_rows) < shares[bags]
    X = rng.standard_normal((n_rows, 10)) + labels[:, None]
    model = CorrectedLossClassifier(
        rank_tol=0.0, max_rank=RANK, reg_strength=1e-3, convex="ignore", random_state=0
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.fit(X, shares[bags], bags=bags)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    correct = float(((model.decision_function(X) > 0) == labels).mean())
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak_mb": peak / 1024,
                "before_mb": before / 1024,
                "correct": correct,
            }
        )
    )


def main():
    rows = []
    for n_rows in SIZES:
        done = subprocess.run(
            [sys.executable, __file__, str(n_rows)], check=True, capture_output=True, text=True
        )
        rows.append(json.loads(done.stdout))
    print(f"{'rows':>9} {'seconds':>9} {'peak MB':>9} {'allowed MB':>11} {'correct':>8}")
    within = True
    for n_rows, row in zip(SIZES, rows, strict=True):
        allowed = 3 * n_rows * RANK * 8 / 2**20 + 500
        within &= row["peak_mb"] <= allowed
        print(
            f"{n_rows:>9,} {row['seconds']:>9.2f} {row['peak_mb']:>9.0f} {allowed:>11.0f} "
            f"{row['correct']:>8.3f}"
        )
    slope = np.log(rows[-1]["seconds"] / rows[-2]["seconds"]) / np.log(SIZES[-1] / SIZES[-2])
    print(
        f"time grows like n^{slope:.2f} from {SIZES[-2]:,} to {SIZES[-1]:,} rows; "
        f"memory within bounds: {within}"
    )
    return 0 if within and slope <= STEEPEST else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fit(int(sys.argv[1]))
    else:
        sys.exit(main())
