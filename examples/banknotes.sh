#!/usr/bin/env bash
# Banknotes: a classifier of forgeries, trained on the share of forgeries in each batch.
#
# A bank knows the share of forgeries in each batch; which notes were forged is unknown. All options are in a
# config file. The data (Lohweg 2012, UCI, CC BY 4.0) are read from $DECORRUPT_DATA; without them the
# script prints a message and exits with 77.
#
#     examples/banknotes.sh [OUTPUT_DIRECTORY]
set -euo pipefail

data="${DECORRUPT_DATA:-.}/banknote.csv.gz"
out="${1:-out/banknotes}"
if [ ! -f "$data" ]; then
    echo "skipped: there is no $data (set DECORRUPT_DATA to the directory of the UCI files)" >&2
    exit 77
fi
mkdir -p "$out"

cat > "$out/run.toml" <<'TOML'
seed = 1
force = true

[bags]
label-column = "label"
positive-label = "1"
bag-column = "batch"
bag-size = 25
test-share = 0.25

[bound]
proportion-column = "1"
TOML

echo "== Divide the labelled table into batches of 25 notes"
decorrupt bags "$data" --config "$out/run.toml" -o "$out/notes.parquet" \
    --bags-output "$out/batches.csv" --test-output "$out/test.parquet"

echo
echo "== How many notes are needed for a generalisation bound of 0.5?"
decorrupt bound "$out/batches.csv" --config "$out/run.toml" --radius 5 --target-bound 0.5

echo
echo "== Train on the shares of the batches"
decorrupt fit "$out/notes.parquet" "$out/batches.csv" --config "$out/run.toml" -o "$out/model.skops"

echo
echo "== Evaluate on test rows (their labels were not used for training)"
decorrupt evaluate "$out/model.skops" "$out/test.parquet" --label-column label --positive-label 1

echo
echo "== Predictions for new notes"
decorrupt predict "$out/model.skops" "$out/test.parquet" --proba --keep variance,skewness \
    -o "$out/predictions.csv" --force
head -n 5 "$out/predictions.csv"

echo
decorrupt explain "$out/model.skops"
