"""decorrupt inspect: what is in the data before any training."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from decorrupt.app.cli.checks import check_training
from decorrupt.app.cli.conventions import (
    FAILED,
    Config,
    Decimal,
    Force,
    Json,
    Output,
    Quiet,
    Rows,
    Seed,
    Sql,
    Verbose,
    option,
)
from decorrupt.app.cli.options import (
    BagColumn,
    BagsArgument,
    CategoricalColumns,
    CountColumn,
    DropColumns,
    EstimateNoiseRates,
    FeatureColumns,
    LabelColumn,
    NoiseRatesFile,
    PositiveLabel,
    ProportionColumn,
    ReportPage,
    SourceColumn,
    read_training_data,
    refuse_existing,
)
from decorrupt.app.cli.pages import make_page, pages
from decorrupt.app.cli.text import (
    SHOWN_BAGS,
    bags_listing,
    bullets,
    columns_text,
    listing,
    measured,
    sources_text,
    table,
    wrapped,
)


def inspect(
    context: typer.Context,
    rows: Rows,
    bags: BagsArgument = None,
    *,
    bag_column: BagColumn = None,
    proportion_column: ProportionColumn = None,
    count_column: CountColumn = None,
    label_column: LabelColumn = None,
    positive_label: PositiveLabel = None,
    source_column: SourceColumn = None,
    noise_rates: NoiseRatesFile = None,
    estimate_noise_rates: EstimateNoiseRates = False,  # noqa: ARG001 — read by check_training
    features: FeatureColumns = None,
    drop: DropColumns = None,
    categorical: CategoricalColumns = None,
    quick_fit: Annotated[
        bool,
        option("--quick-fit", help="Also train one fast method, to see what accuracy it reaches."),
    ] = False,
    sql: Sql = None,
    decimal: Decimal = None,
    report: ReportPage = None,
    seed: Seed = 0,
    config: Config = None,  # noqa: ARG001 — read by its callback
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,  # noqa: ARG001 — read by its callback
    force: Force = False,
) -> None:
    """Say what is in the data before any training.

    Rows, bags, sizes and proportions; how many labelled rows they are worth; which bags matter and
    which tell nothing; whether a convex objective exists; which method fits; what accuracy can be
    hoped for; and what may be wrong. For sources: --label-column, --source-column, and
    --noise-rates or --estimate-noise-rates. What 'fit' would refuse is refused with the same words.

    Example: decorrupt inspect rows.csv bags.csv --bag-column branch --proportion-column rate
    """
    say = Output(json_output, quiet)
    refuse_existing(report, force=force)
    check_training(context.params)
    if quick_fit and label_column is not None:
        raise typer.BadParameter("--quick-fit does not go with sources")
    renderer = pages(report)
    data, used = read_training_data(
        rows,
        bags,
        sql=sql,
        decimal=decimal,
        bag_column=bag_column,
        proportion_column=proportion_column,
        count_column=count_column,
        label_column=label_column,
        positive_label=positive_label,
        source_column=source_column,
        noise_rates=noise_rates,
        features=features,
        drop=drop,
        categorical=categorical,
    )
    found, text = _inspected(data, used, quick_fit=quick_fit, seed=seed)
    has_page = not (renderer and report) or make_page(
        lambda: renderer.render_inspection(found), report, force=force
    )
    say.result(found, text)
    if not has_page:
        raise typer.Exit(FAILED)


def _inspected(
    data: Any, features: Any, *, quick_fit: bool, seed: int
) -> tuple[dict[str, Any], str]:
    from decorrupt.app.training.inspect import inspect_bags
    from decorrupt.app.training.inspect_sources import inspect_sources
    from decorrupt.app.training.roles import BagRows

    if isinstance(data, BagRows):
        found = dict(inspect_bags(data, features, quick_fit=quick_fit, seed=seed))
        return found, _bags_text(found)
    found = dict(inspect_sources(data, features, seed=seed))
    return found, _sources_text(found)


def _bags_text(found: dict[str, Any]) -> str:
    convex, advice, hope = found["convex"], found["advice"], found["hope"]
    shares = found["bag_shares"]
    top = [
        (bag["bag"], f"{bag['size']:,}", f"{bag['proportion']:.3f}", f"{bag['share']:.1%}")
        for bag in shares[:SHOWN_BAGS]
    ]
    useless = found["useless"]
    named = ", ".join(useless[:SHOWN_BAGS]) + (", …" if len(useless) > SHOWN_BAGS else "")
    facts = [
        ("bags that matter", f"{found['matter']} of {len(shares)} hold 90 % of V"),
        ("bags that tell nothing", f"{len(useless)}" + (f" ({named})" if useless else "")),
        ("convex objective", _convex_words(convex)),
        ("method that fits", f"{advice['method']}: {advice['reason']}"),
    ]
    parts = [
        "Bags\n" + listing([*bags_listing(found["bags"]), *facts], "  "),
        "The bags that tell most\n" + table(("bag", "rows", "proportion", "share of V"), top),
        "Columns\n" + columns_text(found["columns"], found["left_out"]),
        "What accuracy can be hoped for\n" + wrapped(hope["words"] + _quick(hope)),
        "Warnings\n" + bullets(found["warnings"]),
    ]
    return "\n\n".join(parts)


def _convex_words(convex: dict[str, Any]) -> str:
    if convex["superbag"]:
        return "yes, whatever the regularisation"
    if convex["exists"]:
        return f"possible (convex='project'), or from --reg-strength {convex['floor']:.3g} on"
    return (
        f"not for the balanced risk (no bag on the other side of ½); from --reg-strength "
        f"{convex['floor']:.3g} on, and always for mean-map"
    )


def _quick(hope: dict[str, Any]) -> str:
    if "quick_fit" not in hope:
        return " --quick-fit trains one fast method and measures it on held-out bags."
    return (
        " A quick mean-map model reached a balanced accuracy of "
        f"{measured(hope['quick_fit'])} (standard error), estimated on held-out bags."
    )


def _sources_text(found: dict[str, Any]) -> str:
    parts = [
        "Sources\n" + sources_text(found["sources"]),
        "Columns\n" + columns_text(found["columns"], found["left_out"]),
        f"Method that fits\n  {found['advice']['method']}: {found['advice']['reason']}",
        "What accuracy can be hoped for\n" + wrapped(found["hope"]["words"]),
        "Warnings\n" + bullets(found["warnings"]),
    ]
    return "\n\n".join(parts)
