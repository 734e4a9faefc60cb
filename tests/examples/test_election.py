"""The election: the model of single voters is closer to the truth than what precincts show."""

from pathlib import Path

import matplotlib as mpl

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_election.py"
SIZE = "N_PRECINCTS, VOTERS = 60, 80"


def test_single_voters_are_predicted_better_than_by_ecological_regression(capsys):
    mpl.use("Agg")
    text = EXAMPLE.read_text()
    assert SIZE in text
    example = {"__name__": "example"}
    exec(text.replace(SIZE, "N_PRECINCTS, VOTERS = 24, 80"), example)  # noqa: S102 — our text
    assert example["results"].sum(axis=1).round(9).tolist() == [1.0] * 24
    accuracy, recall, error = example["scores"]["decorrupt"]
    assert recall > example["scores"]["ecological regression"][1]
    assert accuracy > example["scores"]["precinct result"][0] + 0.05
    assert example["scores"]["true probabilities"][2] < error
    table = capsys.readouterr().out.splitlines()
    lines = [line[:22].strip() for line in table if line.startswith("decorrupt")]
    assert lines == 2 * ["decorrupt"]
