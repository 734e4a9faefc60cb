"""The leaderboard is a table."""

import numpy as np
import pandas as pd

from decorrupt.model_selection.leaderboard import Leaderboard, LeaderboardRow, choose
from decorrupt.model_selection.results import Result


def result(method, score, **params):
    nothing = np.empty(0)
    return Result(method, params, score, 0.5, None, nothing, np.array([1.0, 2.0]), nothing, nothing)


def test_rows_are_kernels_at_their_best_the_heaviest_first():
    results = [
        result("a", 1.0, C=1, reg_strength=0.1),
        result("a", 2.0, C=1, reg_strength=0.2),
        result("b", 3.0),
        result("a", 0.0, C=2),
    ]
    table = Leaderboard.of(results, [0.1, 0.2, 0.65, 0.05], [results[2], results[1]])
    assert len(table) == 3
    assert list(table) == [
        LeaderboardRow("b", {}, 3.0, 0.5, 3.0, True, 0.65),
        LeaderboardRow("a", {"C": 1, "reg_strength": 0.2}, 2.0, 0.5, 6.0, True, 0.1 + 0.2),
        LeaderboardRow("a", {"C": 2}, 0.0, 0.5, 3.0, False, 0.05),
    ]
    assert table[1].params["C"] == 1
    assert table[-1] == table[2]
    expected = pd.DataFrame(list(table), columns=LeaderboardRow._fields)
    pd.testing.assert_frame_equal(table.to_frame(), expected)
    head, best, _, other, rule = str(table).splitlines()
    assert head.split()[:3] == ["method", "weight", "score"]
    assert best.startswith("* b ")
    assert other.endswith("C=2")
    assert rule.startswith("* part of the model")


def test_rows_of_earlier_files_have_no_weight():
    old = {"method": "a", "params": {}, "score": 1.0, "std_error": 0.5, "seconds": 1.0}
    (row,) = Leaderboard([old | {"chosen": True}])
    assert np.isnan(row.weight)


def test_the_best_score_is_chosen_of_equal_ones_the_first():
    results = [result("a", 1.0), result("b", 1.4), result("c", 1.4)]
    assert choose(results).method == "b"
