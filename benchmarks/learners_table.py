"""Print the table of any_learner.md: methods around any learner next to kernel models.

    PYTHONPATH=. python benchmarks/learners_table.py \
        results/learners/records.jsonl results/paper/records.jsonl

A cell is the mean balanced accuracy of the repetitions that all methods have; the splits are the
same. The best method that sees only bags is bold. The means leave out cells in which one failed.
"""

import sys
from itertools import groupby
from statistics import fmean

from reproduction.records import read_records

ON_LABELS = ("supervised", "supervised_forest")
ON_BAGS = ("count_likelihood", "em_forest")
METHODS = (*ON_LABELS, *ON_BAGS)


def read(paths):
    """Return {(data set, bag size): {method: {repetition: accuracy}}} where EM was run."""
    cells = {}
    for record in (one for path in paths for one in read_records(path)):
        if record["status"] == "done" and record["method"] in METHODS:
            cell = cells.setdefault((record["dataset"], record["bag_size"]), {})
            own = cell.setdefault(record["method"], {})
            own[record["repetition"]] = record["balanced_accuracy"]
    return {cell: found for cell, found in sorted(cells.items()) if "em_forest" in found}


def means(found, methods):
    """Return the means over common repetitions, None for a method that failed; how many."""
    common = set.intersection(*map(set, found.values()))
    values = [fmean(found[m][k] for k in common) if m in found else None for m in methods]
    return values, len(common)


def line(name, size, count, values, methods):
    on_bags = [v for v, m in zip(values, methods, strict=True) if m in ON_BAGS and v is not None]
    best = f"{max(on_bags):.3f}"
    shown = ["failed" if value is None else f"{value:.3f}" for value in values]
    for place, method in enumerate(methods):
        if method in ON_BAGS and shown[place] == best:
            shown[place] = f"**{best}**"
    return f"| {name} | {size} | {count} | {' | '.join(shown)} |"


def main(paths):
    cells = read(paths)
    methods = [m for m in METHODS if any(m in found for found in cells.values())]
    print("| data set | bag size | runs |", " | ".join(methods).replace("_", " "), "|")
    print("|---" * (3 + len(methods)) + "|")
    rows = [(cell, *means(found, methods)) for cell, found in cells.items()]
    for (name, size), values, count in rows:
        print(line(name, size, count, values, methods))
    whole = [row for row in rows if None not in row[1]]
    by_size = sorted(whole, key=lambda row: row[0][1])
    for size, some in groupby(by_size, key=lambda row: row[0][1]):
        columns = zip(*(values for _, values, _ in some), strict=True)
        print(line("mean", size, "", [fmean(column) for column in columns], methods))


if __name__ == "__main__":
    main(sys.argv[1:])
