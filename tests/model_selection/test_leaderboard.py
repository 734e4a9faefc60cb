"""The leaderboard is a table."""

import numpy as np
import pandas as pd

from decorrupt.model_selection.leaderboard import Leaderboard, LeaderboardRow, choose
from decorrupt.model_selection.results import Result


def result(method, score, **params):
    nothing = np.empty(0)
    return Result(method, params, score, 0.5, None, nothing, np.array([1.0, 2.0]), nothing, nothing)


def test_rows_are_methods_at_their_best_the_best_first():
    results = [result("a", 1.0, C=1), result("a", 2.0, C=2), result("b", 3.0), result("a", 0.0)]
    table = Leaderboard.of(results, choose(results))
    assert len(table) == 2
    assert list(table) == [
        LeaderboardRow("b", {}, 3.0, 0.5, 3.0, True),
        LeaderboardRow("a", {"C": 2}, 2.0, 0.5, 9.0, False),
    ]
    assert table[1].params == {"C": 2}
    assert table[-1] == table[1]
    expected = pd.DataFrame(list(table), columns=LeaderboardRow._fields)
    pd.testing.assert_frame_equal(table.to_frame(), expected)
    head, best, other, rule = str(table).splitlines()
    assert head.split()[:2] == ["method", "score"]
    assert best.startswith("* b ")
    assert other.endswith("C=2")
    assert rule.startswith("* chosen: ")


def test_preference_counts_within_one_standard_error_only():
    results = [result("a", 1.0), result("b", 1.4), result("c", 0.8)]
    assert choose(results).method == "b"
    assert choose(results, ["a", "b"]).method == "a"  # 0.4 behind, ± 0.5
    assert choose(results, ["c", "b"]).method == "b"  # 0.6 behind
