"""Print the tables of docs/evidence/assumptions.md from the records in results/assumptions."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

FOLDER = Path(__file__).parent.parent / "results" / "assumptions"
SINGLE = ("mean_map", "corrected_loss", "proportion_matching")
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


if __name__ == "__main__":
    sizes("size-classes")
    sizes("size-counts")
    choice(200)
