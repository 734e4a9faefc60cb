"""Records of the evidence: one JSON line per cell; a run that was interrupted resumes.

A script has `cells` (dicts), a function that runs one of them and one that makes the tables of the
records, and ends with `main`:

    DECORRUPT_DATA=… python benchmarks/SCRIPT.py      # run what has no record, print the tables
    python benchmarks/SCRIPT.py --table               # print the tables only
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parents[1] / "results"


def read(path):
    """Return the records of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def complete(path, cells, run):
    """Run the cells without a record; data that a method refuses have its message instead.

    `run` gets the keys of a cell as arguments and returns what was measured: one dict, or several
    for one record each.
    """
    done = read(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        if any(cell.items() <= record.items() for record in done):
            continue
        try:
            measured = run(**cell)
        except ValueError as error:
            measured = {"refused": str(error)}
        measured = measured if isinstance(measured, list) else [measured]
        with path.open("a") as file:
            file.writelines(json.dumps(cell | one) + "\n" for one in measured)
        print(cell, file=sys.stderr, flush=True)


def markdown(header, rows):
    """Return a Markdown table; columns of numbers are aligned to the right."""
    rows = [[_as_text(cell) for cell in row] for row in rows]
    is_text = [any(row[k][:1].isalpha() for row in rows) for k in range(len(header))]
    rule = ["---" if text else "--:" for text in is_text]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])


def _as_text(cell):
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def common_means(records, value, methods, repetition="split"):
    """Return the mean value of each method over the repetitions that all of them have.

    A method that refused the data has a dash; the number of repetitions comes first.
    """
    by_method = {
        method: {one[repetition]: one.get(value) for one in records if one["method"] == method}
        for method in methods
    }
    common = set.intersection(*map(set, by_method.values()))
    if not common:
        return None
    found = [[values[k] for k in common] for values in by_method.values()]
    return [len(common), *("—" if None in own else float(np.mean(own)) for own in found)]


def main(description, path, cells, run, tables):
    """Run what has no record yet, unless only the tables are asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the tables of the records only")
    if not parser.parse_args().table:
        warnings.simplefilter("ignore")
        complete(path, cells, run)
    print(tables(read(path)))
