"""The election: the model of single voters is closer to the truth than what precincts show."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "election.py"


def test_single_voters_are_predicted_better_than_by_ecological_regression(capsys):
    example = runpy.run_path(str(EXAMPLE))
    electorate = example["draw_electorate"](24)
    assert electorate.results.sum(axis=1).round(9).tolist() == [1.0] * 24
    found = example["compare"](electorate)
    ours, regression = found["decorrupt"], found["ecological regression"]
    assert ours["macro recall"] > regression["macro recall"]
    assert ours["accuracy"] > found["precinct result"]["accuracy"] + 0.05
    assert found["true probabilities"]["error"] < ours["error"]
    example["report"](electorate, found)
    table = capsys.readouterr().out.splitlines()
    assert [line[:22].strip() for line in table if line.startswith("decorrupt")] == 2 * [
        "decorrupt"
    ]
