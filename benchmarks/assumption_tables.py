"""Print the tables of docs/assumptions.md from the records in results/assumptions."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

FOLDER = Path(__file__).parent.parent / "results" / "assumptions"
SINGLE = ("mean_map", "corrected_loss", "set_classification", "proportion_matching")
METHODS = (*SINGLE, "count_likelihood")
BASELINES = ("group_rate", "supervised")


def records(name):
    path = FOLDER / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(header, rows):
    print("|", " | ".join(header), "|")
    print("|", " | ".join("---" for _ in header), "|")
    for row in rows:
        print("|", " | ".join(row), "|")
    print()


def sizes(name):
    header = ("data", "bags", "rows per bag", "draws", "rejected at 5 %", "at 10 %")
    columns = ("data", "bags", "bag_size", "draws", "rejected_at_0.05", "rejected_at_0.1")
    table(header, [[row[c] for c in columns] for row in records(name)])


def coverage(name="coverage"):
    rows = [
        [row["data"], row["bags"], row["cases"], *(f"{float(row[c]):.3f}" for c in columns)]
        for row in records(name)
        for columns in [("coverage", "mean_width", "mean_error")]
    ]
    table(("data", "bags", "cases", "coverage", "mean width", "mean error"), rows)


def choice(name="choice"):
    scores = defaultdict(lambda: defaultdict(list))
    for row in (*records(name), *records("baselines")):
        scores[row["data"]][row["method"]].append(float(row["balanced_accuracy"]))
    rows = []
    for data, found in scores.items():
        if set(found) >= {"auto", *METHODS, *BASELINES}:
            means = {method: mean(values) for method, values in found.items()}
            gap = max(means[method] for method in METHODS) - means["auto"]
            rows.append(
                [data, *(f"{means[m]:.3f}" for m in ("auto", *METHODS, *BASELINES)), f"{gap:.3f}"]
            )
    table(("data", "automatic", *METHODS, *BASELINES, "best − automatic"), rows)


def model_estimate(*names):
    """Estimates from the model's own probabilities: errors, and how often the range is right."""
    found = defaultdict(list)
    for row in (one for name in names for one in records(name)):
        truth, value, low, high = (float(row[k]) for k in ("truth", "estimate", "low", "high"))
        found[row["data"]].append((value - truth, low <= truth <= high, high - low))
    found["all"] = [case for cases in found.values() for case in cases]
    rows = [
        [
            data,
            str(len(cases)),
            f"{mean(error for error, _, _ in cases):+.3f}",
            f"{mean(abs(error) for error, _, _ in cases):.3f}",
            f"{max(abs(error) for error, _, _ in cases):.3f}",
            str(sum(inside for _, inside, _ in cases)),
            f"{mean(width for _, _, width in cases):.3f}",
        ]
        for data, cases in found.items()
    ]
    header = ("mean error", "mean absolute error", "largest", "truth in range", "mean width")
    table(("data", "cases", *header), rows)


def design():
    found = defaultdict(lambda: defaultdict(list))
    for row in records("design"):
        cell = found[row["bag_size"]]
        cell["V", row["bags"]].append(float(row["information"]))
        cell["accuracy", row["bags"]].append(float(row["balanced_accuracy"]))
    kinds = ("random", "principal component", "predicted score")
    header = ["smallest bag", *(f"V, {k}" for k in kinds), *(f"accuracy, {k}" for k in kinds)]
    rows = [
        [
            size,
            *(f"{mean(cell['V', k]):.0f}" for k in kinds),
            *(f"{mean(cell['accuracy', k]):.3f}" for k in kinds),
        ]
        for size, cell in found.items()
        if all(("V", k) in cell for k in kinds)
    ]
    table(header, rows)


if __name__ == "__main__":
    sizes("size-classes")
    sizes("size-counts")
    choice()
    coverage()
    model_estimate("model-estimate-400", "model-estimate-500")
    design()
