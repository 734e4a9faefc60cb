#!/usr/bin/env bash
# German credit: who will default, learned from the default rates of branches alone.
#
# Each branch publishes its share of bad credits; no single customer's outcome is known. Columns are
# numbers and categories, branches are of different sizes. The data (Hofmann 1994, UCI, CC BY 4.0)
# are read from $DECORRUPT_DATA; without them the script says so and exits with 77.
#
#     examples/german_credit.sh [DIRECTORY FOR THE RESULTS]
set -euo pipefail

data="${DECORRUPT_DATA:-.}/german_categorical.csv.gz"
out="${1:-out/german_credit}"
if [ ! -f "$data" ]; then
    echo "skipped: there is no $data (set DECORRUPT_DATA to the directory of the UCI files)" >&2
    exit 77
fi
mkdir -p "$out"

echo "== The labelled table becomes 23 or so branches; 300 customers are kept for a test"
decorrupt bags "$data" --label-column label --positive-label 2 \
    --sizes 10:50 --proportions 0.05:0.7 --bag-column branch --seed 0 \
    --test-share 0.3 --test-output "$out/test.csv" \
    -o "$out/customers.csv" --bags-output "$out/branches.csv" --force

echo
echo "== What can be learned from branches?"
decorrupt inspect "$out/customers.csv" "$out/branches.csv" \
    --bag-column branch --proportion-column proportion

echo
echo "== Train on the branches' default rates"
decorrupt fit "$out/customers.csv" "$out/branches.csv" \
    --bag-column branch --proportion-column proportion --seed 0 -o "$out/model.skops" --force

echo
echo "== How good is it? (The test labels were never used.)"
decorrupt evaluate "$out/model.skops" "$out/test.csv" --label-column label --positive-label 2

echo
echo "== Predictions for new customers, where three in ten default"
decorrupt predict "$out/model.skops" "$out/test.csv" --proba --class-prior 0.3 \
    --keep credit_amount,age -o "$out/predictions.csv" --force
head -n 5 "$out/predictions.csv"
