"""Print the tables of docs/assumptions.md from the records in results/assumptions."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

FOLDER = Path(__file__).parent.parent / "results" / "assumptions"
SINGLE = ("mean_map", "corrected_loss", "set_classification", "proportion_matching")
METHODS = (*SINGLE, "count_likelihood", "count_likelihood_with_effect")
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


def coverage(name):
    columns = ("coverage", "mean_width", "mean_error")
    found = records(name)
    rows = [
        [row["data"], row["bags"], row["cases"], *(f"{float(row[c]):.3f}" for c in columns)]
        for row in found
    ]
    total = sum(int(row["cases"]) for row in found)
    means = [sum(int(row["cases"]) * float(row[c]) for row in found) / total for c in columns]
    rows.append(["all", "", str(total), *(f"{value:.3f}" for value in means)])
    table(("data", "bags", "cases", "coverage", "mean width", "mean error"), rows)


def choice(first):
    scores, of_auto = defaultdict(lambda: defaultdict(list)), defaultdict(list)
    found = records(f"choice-{first}")
    divisions = {(row["data"], row["seed"]) for row in found}
    for row in (*found, *records(f"baselines-{first}")):
        if (row["data"], row["seed"]) in divisions:
            scores[row["data"]][row["method"]].append(float(row["balanced_accuracy"]))
        if row["method"] == "auto":
            of_auto[row["data"]].append(row)
    rows = []
    for data, own in scores.items():
        means = {method: mean(values) for method, values in own.items()}
        gap = max(means[method] for method in METHODS) - means["auto"]
        rows.append(
            [
                data,
                *(mean_of(of_auto[data], column) for column in ("bag_effect", "gain_in_nats")),
                *(f"{means[m]:.3f}" for m in ("auto", *METHODS, *BASELINES)),
                f"{gap:+.3f}",
            ]
        )
    header = ("data", "bag effect", "gain in nats", "automatic", *METHODS, *BASELINES)
    table((*header, "best − automatic"), rows)


def mean_of(rows, column):
    return f"{mean(float(row[column]) for row in rows):.3g}"


def model_estimate(name):
    """Estimates from the model's own probabilities: errors, and how often the range is right."""
    found = defaultdict(list)
    for row in records(name):
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
    choice(200)
    coverage("coverage-200")
    model_estimate("model-estimate-700")
    design()
