#!/usr/bin/env bash
# German credit: a classifier of defaults, trained on the default rates of branches.
#
# Each branch publishes its share of bad credits; the outcome of single customers is unknown. Columns
# are numbers and categories, and branches have different sizes. The data (Hofmann 1994, UCI,
# CC BY 4.0) are read from $DECORRUPT_DATA; without them the script prints a message and exits with 77.
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

echo "== Divide the labelled table into about 23 branches; hold out 300 customers as test rows"
decorrupt bags "$data" --label-column label --positive-label 2 \
    --sizes 10:50 --proportions 0.05:0.7 --bag-column branch --seed 0 \
    --test-share 0.3 --test-output "$out/test.csv" \
    -o "$out/customers.csv" --bags-output "$out/branches.csv" --force

echo
echo "== How informative are the branches?"
decorrupt inspect "$out/customers.csv" "$out/branches.csv"

echo
echo "== Train on the default rates of the branches"
decorrupt fit "$out/customers.csv" "$out/branches.csv" --seed 0 -o "$out/model.skops" --force

echo
echo "== Evaluate on test rows (their labels were not used for training)"
decorrupt evaluate "$out/model.skops" "$out/test.csv" --label-column label

echo
echo "== Predictions for new customers, for a default rate of 30 %"
decorrupt predict "$out/model.skops" "$out/test.csv" --proba --class-prior 0.3 \
    --keep credit_amount,age -o "$out/predictions.csv" --force
head -n 5 "$out/predictions.csv"
