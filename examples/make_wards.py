"""Make examples/wards: patients of 28 wards, of which only the share of malignant tumours is known.

The data are scikit-learn's breast cancer data (569 patients). 448 of them, drawn at random, are in
wards of 16; wards differ in their share, because patients are sorted by diagnosis plus noise. The
other 121 keep their diagnosis, to evaluate a model with.

    python examples/make_wards.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

N_WARDS, WARD_SIZE = 28, 16
NOISE = 0.8  # standard deviation beside a diagnosis of 0 or 1: shares from about 0 to 0.9
SEED = 0


def main(folder: Path) -> None:
    """Write patients.csv, wards.csv and new_patients.csv."""
    rng = np.random.default_rng(SEED)
    data = load_breast_cancer(as_frame=True)
    table = data.frame.drop(columns="target").iloc[:, :10]
    table.columns = [name.replace(" ", "_") for name in table.columns]
    table["diagnosis"] = data.target_names[data.target]
    table = table.sample(frac=1, random_state=SEED, ignore_index=True)

    is_in_ward = table.index < N_WARDS * WARD_SIZE
    known, new = table[is_in_ward], table[~is_in_ward]
    is_malignant = known["diagnosis"].eq("malignant")
    order = np.argsort(is_malignant + rng.normal(scale=NOISE, size=len(known)))
    places = np.empty(len(known), dtype=int)
    places[order] = np.arange(len(known))
    numbers = rng.permutation(N_WARDS)[places // WARD_SIZE]  # wards in no order
    patients = known.assign(ward=[f"W{number + 1:02d}" for number in numbers])

    wards = patients.groupby("ward")["diagnosis"].agg(
        patients="size", malignant_share=lambda diagnosis: diagnosis.eq("malignant").mean()
    )
    columns = ["ward", *table.columns.drop("diagnosis")]
    patients[columns].to_csv(folder / "patients.csv", index=False)
    wards.reset_index().to_csv(folder / "wards.csv", index=False)
    new.to_csv(folder / "new_patients.csv", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "wards")
