"""Any learner on data sets of scikit-learn, in the format of the paper's records.

    PYTHONPATH=. python benchmarks/embedded_learners.py results/learners/embedded.jsonl
    PYTHONPATH=. python benchmarks/learners_table.py results/learners/embedded.jsonl

The first command creates the records or resumes them (about 15 minutes), the second prints the
table of docs/evidence/learners.md.
"""

import sys
import time

from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_wine,
    make_classification,
    make_hastie_10_2,
)
from threadpoolctl import threadpool_limits

from reproduction.plan import Plan
from reproduction.records import DONE, append_record, finished_cells, read_records
from reproduction.run import train_and_test, versions

PLAN = Plan(
    datasets=("breast_cancer", "digits_3_8", "wine", "clusters", "sphere"),
    bag_sizes=(4, 16, 64),
    methods=("supervised_forest", "count_likelihood", "em_forest"),
    repetitions=3,
)
N_SYNTHETIC = 1500


def digits_3_8():
    data = load_digits()
    rows = (data.target == 3) | (data.target == 8)
    return data.data[rows], (data.target[rows] == 8).astype(int)


def binary(data, positive):
    return data.data, (data.target == positive).astype(int)


def sphere():
    """Ten columns; the class is whether the row is outside a sphere, half of the rows."""
    X, labels = make_hastie_10_2(N_SYNTHETIC, random_state=0)
    return X, (labels > 0).astype(int)


def clusters():
    """Two clusters per class in 5 of 20 columns, 5 % of the labels at random."""
    return make_classification(
        N_SYNTHETIC, n_informative=5, n_redundant=0, flip_y=0.05, random_state=0
    )


DATA = {
    "breast_cancer": lambda: binary(load_breast_cancer(), 0),
    "digits_3_8": digits_3_8,
    "wine": lambda: binary(load_wine(), 1),
    "clusters": clusters,
    "sphere": sphere,
}


def run(cell):
    record = cell._asdict() | {"versions": versions()}
    began = time.perf_counter()
    try:
        with threadpool_limits(1):
            X, labels = DATA[cell.dataset]()
            record |= train_and_test(cell, X, labels, PLAN.test_share, PLAN.n_folds)
        record["status"] = DONE
    except ValueError as error:  # two bags of wine can have the same share
        record["status"] = f"{type(error).__name__}: {error}"
    return record | {"seconds": round(time.perf_counter() - began, 3)}


def main(path):
    done = finished_cells(read_records(path))
    for cell in PLAN.cells():
        if cell not in done:
            record = run(cell)
            append_record(path, record)
            print(*cell, record["status"], record.get("balanced_accuracy"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
