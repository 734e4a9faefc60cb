"""decorrupt bags: split a labelled table into bags, for an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from decorrupt.app.cli.conventions import (
    Config,
    Decimal,
    Force,
    Json,
    Output,
    Quiet,
    Rows,
    Seed,
    Sql,
    option,
)
from decorrupt.app.cli.options import PositiveLabel, open_table, refuse_existing
from decorrupt.app.training.name_lists import split_names

if TYPE_CHECKING:
    from decorrupt.app.training.results import BagTablesSummary
    from decorrupt.documents import Section


def bags(
    rows: Rows,
    *,
    label_column: Annotated[str, option("--label-column", help="Column of labels.")],
    output: Annotated[
        str,
        option("--output", "-o", help="Table of rows to write, without the label.", metavar="FILE"),
    ],
    bags_output: Annotated[
        str,
        option("--bags-output", help="Table to write, with one row per bag.", metavar="FILE"),
    ],
    positive_label: PositiveLabel = None,
    bag_size: Annotated[
        int | None, option("--bag-size", help="Number of rows per bag.", min=1)
    ] = None,
    sizes: Annotated[
        str | None,
        option("--sizes", help="Range of bag sizes, such as 5:40.", metavar="LOW:HIGH"),
    ] = None,
    by: Annotated[
        str | None,
        option(
            "--by",
            help="Columns, comma-separated; rows with equal values in them form a bag.",
            metavar="COLUMNS",
        ),
    ] = None,
    design: Annotated[
        bool,
        option(
            "--design",
            help="Bags of at least --size rows that contain the most information: rows with "
            "similar values in the column --by (a predicted score), or in all columns.",
        ),
    ] = False,
    size: Annotated[
        int | None, option("--size", help="Smallest number of rows of designed bags.", min=1)
    ] = None,
    drop_missing_bags: Annotated[
        bool,
        option("--drop-missing-bags", help="Drop rows without a value in a column of --by."),
    ] = False,
    proportions: Annotated[
        str | None,
        option(
            "--proportions",
            help="Range from which the proportions of the bags are drawn, such as 0.1:0.9.",
            metavar="LOW:HIGH",
        ),
    ] = None,
    bag_column: Annotated[
        str,
        option(
            "--bag-column", help="Name of the column to add; not needed with --by and one column."
        ),
    ] = "bag",
    test_share: Annotated[
        float,
        option(
            "--test-share", help="Share of rows to hold out, with their labels.", min=0, max=0.95
        ),
    ] = 0.0,
    test_output: Annotated[
        str | None,
        option("--test-output", help="Table to write, with the held-out rows.", metavar="FILE"),
    ] = None,
    sql: Sql = None,
    decimal: Decimal = None,
    seed: Seed = 0,
    config: Config = None,
    json_output: Json = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Split a labelled table into bags: rows without labels, and the proportion of each bag.

    Give one of --bag-size, --sizes and --by, or --design and --size. The table of bags has the
    columns bag, rows, and one column of proportions per class, which 'fit' and 'inspect' read
    without an option; of two classes the positive one is the last. With --by and
    several columns, the column --bag-column replaces them in the rows. --design is for those who
    publish aggregates and may choose the bags; train on them with --method auto or
    count-likelihood.

    Example: decorrupt bags labelled.csv --label-column label --positive-label yes --by region,year
    -o rows.csv --bags-output bags.csv
    """
    say = Output(json_output, quiet)
    if (test_share > 0) != (test_output is not None):
        raise typer.BadParameter("--test-share and --test-output go together")
    _check_ways(bag_size, sizes, by, design=design, size=size)
    if design and proportions is not None:
        raise typer.BadParameter("--proportions does not go with --design")
    if drop_missing_bags and (by is None or design):
        raise typer.BadParameter("--drop-missing-bags goes with --by, without --design")
    refuse_existing(output, bags_output, test_output, force=force, inputs=(rows,))
    size_range = _range("--sizes", sizes, int)
    share_range = _range("--proportions", proportions, float)
    from decorrupt.app.tables import check_tables, write_table

    check_tables(rows)
    from decorrupt.app.training.make_bags import cut_into_bags

    made = cut_into_bags(
        open_table(rows, sql, decimal),
        label_column=label_column,
        positive_label=positive_label,
        bag_size=bag_size,
        sizes=size_range,
        by=split_names(by),
        design=size if design else None,
        drop_missing=drop_missing_bags,
        proportions=share_range,
        bag_column=bag_column,
        test_share=test_share,
        seed=seed,
    )
    write_table(made.rows, output, force=force)
    write_table(made.bags, bags_output, force=force)
    if test_output is not None:
        write_table(made.test, test_output, force=force)
    say.result(made.summary, _sections(made.summary))


def _check_ways(
    bag_size: int | None, sizes: str | None, by: str | None, *, design: bool, size: int | None
) -> None:
    """Raise BadParameter unless exactly one way of making bags is given."""
    if design != (size is not None):
        raise typer.BadParameter("--design and --size go together")
    if not design and [bag_size, sizes, by].count(None) != 2:
        raise typer.BadParameter("give one of --bag-size, --sizes and --by, or --design and --size")
    if design and (bag_size is not None or sizes is not None):
        raise typer.BadParameter("--design goes with --size, not with --bag-size or --sizes")
    if design and len(split_names(by)) > 1:
        raise typer.BadParameter("--by is one column of scores if --design is given")


def _range(name: str, text: str | None, kind: Any) -> tuple[Any, Any] | None:
    if text is None:
        return None
    try:
        low, high = (kind(end) for end in text.split(":"))
    except ValueError:
        raise typer.BadParameter(f"{name} {text!r} must be a range LOW:HIGH") from None
    return low, high


def _sections(summary: BagTablesSummary) -> list[Section]:
    from decorrupt.app.pages.data_section import bag_blocks
    from decorrupt.documents import Facts, Section

    dropped = summary["n_without_bag"]
    rest = [
        *([("rows dropped, bag missing", f"{dropped:,}")] if dropped else []),
        ("rows in no bag", f"{summary['n_left_out']:,}"),
        ("rows held out for testing", f"{summary['n_test']:,}"),
    ]
    if "random_information" in summary:
        value = f"{summary['random_information']:.4g} on average"
        rest.insert(0, ("information V of random bags", value))
    return [Section("bags", "", [*bag_blocks(summary["bags"]), Facts(rest)])]
