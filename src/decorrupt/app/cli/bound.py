"""decorrupt bound: generalisation bounds, and how many rows a target needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from decorrupt.app.cli.conventions import (
    Config,
    Decimal,
    Json,
    Output,
    Quiet,
    Sql,
    option,
)
from decorrupt.app.cli.options import NoiseRatesFile, ProportionColumn, open_table
from decorrupt.app.training.name_lists import split_names

if TYPE_CHECKING:
    from decorrupt.app.training.results import BoundReport
    from decorrupt.app.training.table import Table
    from decorrupt.documents import Section


def bound(
    bags: Annotated[
        str | None,
        typer.Argument(
            help="Table with one row per bag: its proportion and number of rows.", metavar="BAGS"
        ),
    ] = None,
    *,
    proportion_column: ProportionColumn = "proportion",
    size_column: Annotated[
        str,
        option(
            "--size-column", help="Column with the number of rows, in BAGS or in the noise rates."
        ),
    ] = "rows",
    proportions: Annotated[
        str | None,
        option("--proportions", help="Proportions instead of a table, such as 0.2,0.5,0.9."),
    ] = None,
    noise_rates: NoiseRatesFile = None,
    flip_pos: Annotated[
        str | None,
        option("--flip-pos", help="Noise rates of sources instead of a table, such as 0.1,0.3."),
    ] = None,
    flip_neg: Annotated[
        str | None, option("--flip-neg", help="The same for negatives labelled positive.")
    ] = None,
    sizes: Annotated[
        str | None,
        option("--sizes", help="Number of rows per bag or source, or one number for all."),
    ] = None,
    radius: Annotated[float, option("--radius", help="Largest norm of the functions.")] = 2.0,
    kernel_bound: Annotated[
        float, option("--kernel-bound", help="Largest √k(x,x); 1 for a Gaussian kernel.")
    ] = 1.0,
    failure_prob: Annotated[
        float, option("--failure-prob", help="Probability that the bound fails.")
    ] = 0.05,
    target_bound: Annotated[
        float | None, option("--target-bound", help="How many rows for this bound?")
    ] = None,
    target_size: Annotated[
        float | None,
        option("--target-size", help="How many rows for this effective sample size?"),
    ] = None,
    sql: Sql = None,
    decimal: Decimal = None,
    config: Config = None,
    json_output: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute generalisation bounds of two classes, and how many rows a target needs.

    Except with probability --failure-prob, the training risk of every function of norm at most
    --radius differs from its true risk by no more than the bound. Give a table of bags,
    --proportions and --sizes, a table --noise-rates (with a column of rows), or --flip-pos,
    --flip-neg and --sizes.

    Example: decorrupt bound --proportions 0.2,0.5,0.9 --sizes 100 --target-bound 0.1
    """
    ball = {"radius": radius, "kernel_bound": kernel_bound, "failure_prob": failure_prob}
    targets = {"bound": target_bound, "effective_sample_size": target_size}
    given = [bags is not None, bool(proportions), bool(noise_rates), bool(flip_pos or flip_neg)]
    if sum(given) != 1:
        raise typer.BadParameter(
            "give one of: a table BAGS, --proportions, --noise-rates, or --flip-pos and --flip-neg"
        )
    if bags is not None:
        named = {size_column: "--size-column", str(proportion_column): "--proportion-column"}
        quantities = _columns(open_table(bags, sql, decimal), named)
    elif proportions:
        shares = _numbers("--proportions", proportions)
        quantities = [_sizes(sizes, len(shares)), shares]
    elif noise_rates:
        quantities = _of_rates_table(open_table(noise_rates, decimal=decimal), size_column)
    else:
        rates = _numbers("--flip-pos", flip_pos), _numbers("--flip-neg", flip_neg)
        quantities = [_sizes(sizes, len(rates[0])), *rates, None]
    from decorrupt.app.training.bound import report_bags, report_sources

    compute: Any = report_bags if bags is not None or proportions else report_sources
    found: BoundReport = compute(*quantities, targets, **ball)
    Output(json_output, quiet).result(found, _sections(found))


def _of_rates_table(rates: Table, size_column: str) -> list[Any]:
    """Return sizes, both rates, and priors or None."""
    from decorrupt.app.training.table import as_numbers

    has_priors = "class_prior" in rates.frame.columns
    priors = as_numbers(rates, "class_prior", "a share") if has_priors else None
    named = {"flip_pos": "--noise-rates", "flip_neg": "--noise-rates"}
    return [*_columns(rates, {size_column: "--size-column"} | named), priors]


def _columns(found: Table, named: Mapping[str, str]) -> list[Any]:
    """Return columns of numbers; `named` is {column: the option that names it}."""
    from decorrupt.app.training.columns import need_columns
    from decorrupt.app.training.table import as_numbers

    for name, asked in named.items():
        need_columns(found.frame, [name], found.name, asked)
    return [as_numbers(found, name, "a number") for name in named]


def _numbers(name: str, text: str | None) -> list[float]:
    try:
        values = [float(value) for value in split_names(text)]
    except ValueError:
        raise typer.BadParameter(f"{name} {text!r} must be comma-separated numbers") from None
    if not values:
        raise typer.BadParameter(f"{name} is missing")
    return values


def _sizes(text: str | None, n: int) -> list[float]:
    values = _numbers("--sizes", text)
    return values * n if len(values) == 1 else values


def _sections(found: BoundReport) -> list[Section]:
    from decorrupt.documents import Block, Facts, Section, Table, Text

    how = f"weights (Theorem {found['theorem']})" if "theorem" in found else "combined as"
    named = [
        (found["situation"], f"{found['n']:,}"),
        ("rows", f"{found['n_rows']:,.0f}"),
        ("effective sample size", f"{found['effective_sample_size']:,.1f} clean labelled rows"),
        ("for functions of norm", f"{found['radius']:g}, √k(x,x) ≤ {found['kernel_bound']:g}"),
        ("with probability", f"{1 - found['failure_prob']:g}"),
    ]
    rows = [(name, f"± {one['bound']:.4g}") for name, one in found["bounds"].items()]
    blocks: list[Block] = [
        Facts(named),
        Table("bounds", "Bounds on the error of the risk", (how, "bound"), rows),
    ]
    for quantity, needed in found["required"].items():
        wanted = "A bound" if quantity == "bound" else "An effective sample size"
        text = (
            f"{wanted} of {needed['target']:g} needs {needed['n_rows']:,} rows, "
            f"{needed['factor']:.3g} times the present number, in the same proportions."
        )
        blocks.append(Text(text))
    return [Section("bounds", "", blocks)]
