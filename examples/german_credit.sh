#!/usr/bin/env bash
# German credit: a classifier of defaults, trained on the default rates of branches.
#
# Each branch publishes its share of bad credits; the outcome of single customers is unknown. Columns
# are numbers and categories. The data (Hofmann 1994, UCI, CC BY 4.0) are read from $DECORRUPT_DATA;
# without them the script prints a message and exits with 77.
#
#     examples/german_credit.sh [OUTPUT_DIRECTORY]
set -euo pipefail

data="${DECORRUPT_DATA:-.}/german_categorical.csv.gz"
out="${1:-out/german_credit}"
if [ ! -f "$data" ]; then
    echo "skipped: there is no $data (set DECORRUPT_DATA to the directory of the UCI files)" >&2
    exit 77
fi
mkdir -p "$out"

echo "== Divide the labelled table into 28 branches; hold out 300 customers as test rows"
python - "$data" "$out" <<'PY'
import sys

import numpy as np
import pandas as pd

data, out = sys.argv[1:]
customers = pd.read_csv(data).sample(frac=1, random_state=0)
customers["is_bad"] = customers.pop("label") == 2
test, customers = customers[:300], customers[300:]
# Customers with a similar outcome, plus noise, have the same branch: default rates differ.
order = np.argsort(customers["is_bad"] + np.random.default_rng(0).normal(size=len(customers)))
customers = customers.iloc[order].assign(branch=np.arange(len(customers)) // 25)
rates = customers.groupby("branch")["is_bad"].mean().rename("default_rate")
test.to_csv(f"{out}/test.csv", index=False)
customers.drop(columns="is_bad").to_csv(f"{out}/customers.csv", index=False)
rates.to_csv(f"{out}/branches.csv")
PY

echo
echo "== How informative are the branches?"
decorrupt inspect "$out/customers.csv" "$out/branches.csv"

echo
echo "== Train on the default rates of the branches"
decorrupt fit "$out/customers.csv" "$out/branches.csv" --seed 0 -o "$out/model.skops" --force

echo
echo "== Evaluate on test rows (their labels were not used for training)"
decorrupt evaluate "$out/model.skops" "$out/test.csv" --label-column is_bad

echo
echo "== Predictions for new customers, for a default rate of 30 %"
decorrupt predict "$out/model.skops" "$out/test.csv" --proba --class-prior 0.3 \
    --keep credit_amount,age -o "$out/predictions.csv" --force
head -n 5 "$out/predictions.csv"
