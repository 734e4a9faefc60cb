"""Print the table of any_learner.md: methods around any learner next to kernel models.

    python benchmarks/learners_table.py results/learners/records.jsonl results/paper/records.jsonl

A cell is the mean balanced accuracy of the repetitions that all methods have; the splits are the
same. The best method that sees only bags is bold.
"""

import sys
from itertools import groupby
from statistics import fmean

from decorrupt.reproduction.records import read_records

ON_LABELS = ("supervised", "supervised_forest")
ON_BAGS = ("count_likelihood", "em_forest", "boosted")
METHODS = (*ON_LABELS, *ON_BAGS)


def read(paths):
    """Return {(data set, bag size): {method: {repetition: balanced accuracy}}}."""
    cells = {}
    for record in (one for path in paths for one in read_records(path)):
        if record["status"] == "done" and record["method"] in METHODS:
            cell = cells.setdefault((record["dataset"], record["bag_size"]), {})
            own = cell.setdefault(record["method"], {})
            own[record["repetition"]] = record["balanced_accuracy"]
    return {cell: found for cell, found in sorted(cells.items()) if len(found) == len(METHODS)}


def means(found):
    """Return the mean of each method over common repetitions, and how many there are."""
    common = set.intersection(*(set(found[method]) for method in METHODS))
    return [fmean(found[method][k] for k in common) for method in METHODS], len(common)


def line(name, size, count, values):
    best = max(values[len(ON_LABELS) :])
    shown = [f"{value:.3f}" for value in values]
    for place in range(len(ON_LABELS), len(values)):
        if shown[place] == f"{best:.3f}":
            shown[place] = f"**{shown[place]}**"
    return f"| {name} | {size} | {count} | {' | '.join(shown)} |"


def main(paths):
    print("| data set | bag size | runs |", " | ".join(METHODS).replace("_", " "), "|")
    print("|---" * (3 + len(METHODS)) + "|")
    rows = [(cell, *means(found)) for cell, found in read(paths).items()]
    for (name, size), values, count in rows:
        print(line(name, size, count, values))
    by_size = sorted(rows, key=lambda row: row[0][1])
    for size, some in groupby(by_size, key=lambda row: row[0][1]):
        columns = zip(*(values for _, values, _ in some), strict=True)
        print(line("mean", size, "", [fmean(column) for column in columns]))


if __name__ == "__main__":
    main(sys.argv[1:])
