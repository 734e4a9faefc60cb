"""Plans, cells and their seeds."""

import pytest

from reproduction.plan import Cell, Plan, hashed_seed


def test_the_papers_plan():
    plan = Plan.read("paper")
    assert len(plan.datasets) * len(plan.bag_sizes) == 42
    cells = list(plan.cells())
    assert len(cells) == len(set(cells)) == 42 * (6 * 5 + 2 * 2)
    first = cells[: 42 * 8]
    assert {cell.repetition for cell in first} == {0}, "repetition by repetition"
    assert {cell.method for cell in first} == set(plan.methods)


def test_all_methods_share_the_seed_of_a_split():
    one, other = Cell("banknote", 8, "auto", 1), Cell("banknote", 8, "invcal", 1)
    assert one.seed == other.seed == hashed_seed("banknote", 8, 1)
    seeds = {hashed_seed(d, b, r) for d in "ab" for b in (2, 4) for r in range(5)}
    assert len(seeds) == 20


def test_seeds_are_the_same_on_every_machine():
    assert hashed_seed("banknote", 8, 1) == 1077741789


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = [", "not TOML"),
        ("colour = 1", "unknown key 'colour'; known: bag_sizes"),
        ("datasets = 'banknote'", "datasets must be a list"),
        ("datasets = []\nbag_sizes = []\nmethods = []", "repetitions is missing"),
    ],
)
def test_bad_plans_are_named(tmp_path, text, message):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"plan\.toml: {message}"):
        Plan.read(path)


def test_the_quick_plan_is_a_part_of_the_papers():
    whole, quick = map(Plan.read, ("paper", "quick"))
    assert (len(quick.datasets), len(quick.bag_sizes)) == (2, 3)
    assert quick.repetitions == 2
    assert set(quick.methods) == set(whole.methods)
    assert set(quick.cells()) <= set(whole.cells()), "its records count for the whole plan too"
    assert (quick.test_share, quick.n_folds) == (whole.test_share, whole.n_folds)


def test_parts_keep_the_plans_order():
    part = Plan.read().narrowed(datasets=["wireless", "cnae"], bag_sizes=[64, 2], repetitions=1)
    assert part.datasets == ("cnae", "wireless")
    assert part.bag_sizes == (2, 64)
    assert len(part.methods) == 8
    assert part.repetitions == 1
