"""Plans that come with the package, and parts of plans."""

import pytest

from decorrupt.reproduction.plan import Plan


def test_the_quick_plan_is_a_part_of_the_papers():
    whole, quick = map(Plan.shipped, ("paper", "quick"))
    assert (len(quick.datasets), len(quick.bag_sizes)) == (2, 3)
    assert quick.repetitions == 2
    assert set(quick.methods) == set(whole.methods)
    assert set(quick.cells()) <= set(whole.cells()), "its records count for the whole plan too"
    assert (quick.test_share, quick.n_folds) == (whole.test_share, whole.n_folds)


def test_parts_keep_the_plans_order():
    part = Plan.shipped().narrowed(datasets=["wireless", "cnae"], bag_sizes=[64, 2], repetitions=1)
    assert part.datasets == ("cnae", "wireless")
    assert part.bag_sizes == (2, 64)
    assert len(part.methods) == 8
    assert part.repetitions == 1


def test_more_repetitions_than_the_plan_has_are_no_part_of_it():
    assert Plan.shipped().narrowed(repetitions=9).repetitions == 5


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"datasets": ["banknot"]}, "datasets: 'banknot' is not in the plan; it has banknote, car"),
        ({"bag_sizes": [3]}, "bag_sizes: 3 is not in the plan; it has 2, 4, 8"),
        ({"methods": ["magic"]}, "methods: 'magic' is not in the plan; it has supervised"),
        ({"repetitions": 0}, "repetitions=0 must be at least 1"),
    ],
)
def test_what_is_not_in_the_plan_is_named(axes, message):
    with pytest.raises(ValueError, match=message):
        Plan.shipped().narrowed(**axes)


def test_a_file_that_is_no_toml_is_named(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("datasets = [")
    with pytest.raises(ValueError, match=r"plan\.toml: not TOML"):
        Plan.read(path)
