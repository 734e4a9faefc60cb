"""decorrupt inspect: information, columns and warnings of data before any training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

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
    ClassColumn,
    CountColumn,
    CountColumns,
    CountNoise,
    DropColumns,
    EstimateNoiseRates,
    FeatureColumns,
    LabelColumn,
    NoiseRatesFile,
    PositiveLabel,
    ProportionColumn,
    ProportionColumns,
    ReportPage,
    SourceColumn,
    TrainingOptions,
    UpperColumn,
    read_training_data,
    refuse_existing,
)
from decorrupt.app.cli.pages import check_pages, make_page
from decorrupt.app.cli.text import (
    SHOWN_BAGS,
    Facts,
    assumptions_section,
    bag_facts,
    bullets,
    columns_section,
    data_section,
    facts,
    section,
    table,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from decorrupt.app.training.columns import Features
    from decorrupt.app.training.results import BagDetails, Convexity, Inspection, Outlook
    from decorrupt.app.training.roles import BagRows
    from decorrupt.app.training.source_roles import SourceRows


def inspect(
    context: typer.Context,
    rows: Rows,
    bags: BagsArgument = None,
    *,
    bag_column: BagColumn = None,
    proportion_column: ProportionColumn = None,
    count_column: CountColumn = None,
    proportion_columns: ProportionColumns = None,
    count_columns: CountColumns = None,
    class_column: ClassColumn = None,
    upper_column: UpperColumn = None,
    count_noise: CountNoise = None,
    label_column: LabelColumn = None,
    positive_label: PositiveLabel = None,
    source_column: SourceColumn = None,
    noise_rates: NoiseRatesFile = None,
    estimate_noise_rates: EstimateNoiseRates = False,
    features: FeatureColumns = None,
    drop: DropColumns = None,
    categorical: CategoricalColumns = None,
    quick_fit: Annotated[
        bool,
        option("--quick-fit", help="Also train one fast method to see its accuracy."),
    ] = False,
    sql: Sql = None,
    decimal: Decimal = None,
    report: ReportPage = None,
    seed: Seed = 0,
    config: Config = None,
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Inspect data before any training.

    Shows rows, bags, sizes and proportions; how many labelled rows they are worth; which bags are
    informative, or which of several classes are hard to distinguish; whether the objective is
    convex; which method fits; which accuracy to expect; and warnings. For sources: --label-column,
    --source-column, and --noise-rates or --estimate-noise-rates. Input that 'fit' refuses is
    refused with the same message.

    Example: decorrupt inspect rows.csv bags.csv --bag-column branch --proportion-column rate
    """
    say = Output(json_output, quiet)
    refuse_existing(report, force=force)
    given = cast(TrainingOptions, context.params)
    check_training(given)
    if quick_fit and label_column is not None:
        raise typer.BadParameter("--quick-fit does not go with sources")
    check_pages(report)
    data, used = read_training_data(given, say)
    found = _inspected(data, used, quick_fit=quick_fit, seed=seed)
    has_page = report is None or make_page(lambda: _page(found), report, force=force)
    say.result(found, *_parts(found))
    if not has_page:
        raise typer.Exit(FAILED)


def _inspected(
    data: BagRows | SourceRows, features: Features, *, quick_fit: bool, seed: int
) -> Inspection:
    from decorrupt.app.training.inspect import inspect_bags
    from decorrupt.app.training.inspect_sources import inspect_sources
    from decorrupt.app.training.roles import BagRows

    if isinstance(data, BagRows):
        return inspect_bags(data, features, quick_fit=quick_fit, seed=seed)
    return inspect_sources(data, features, seed=seed)


def _page(found: Inspection) -> str:
    from decorrupt.app.pages.model_page import render_inspection

    return render_inspection(found)


def _parts(found: Inspection) -> list[RenderableType]:
    advice = found["advice"]
    if "bag_details" in found:
        details = found["bag_details"]
        bags = [
            (bag["bag"], f"{bag['size']:,}", f"{bag['proportion']:.3f}", f"{bag['share']:.1%}")
            for bag in details["shares"][:SHOWN_BAGS]
        ]
        data = [
            section("Bags", facts([*bag_facts(found["bags"]), *_details(details)])),
            section(
                "Most informative bags", table(("bag", "rows", "proportion", "share of V"), bags)
            ),
        ]
    else:
        data = [data_section("Bags" if "bags" in found else "Sources", found)]
    return [
        *assumptions_section(found.get("assumptions", [])),
        *data,
        columns_section("Columns", found["columns"], found["left_out"]),
        section("Recommended method", f"{advice['method']}: {advice['reason']}"),
        section("Expected accuracy", _outlook(found["outlook"], quick="bags" in found)),
        section("Warnings", bullets(found["warnings"])),
    ]


def _details(details: BagDetails) -> Facts:
    names = details["uninformative"]
    shown = ", ".join(names[:SHOWN_BAGS]) + (", …" if len(names) > SHOWN_BAGS else "")
    return [
        (
            "informative bags",
            f"{details['n_informative']} of {len(details['shares'])} contribute 90 % of V",
        ),
        ("uninformative bags", f"{len(names)}" + (f" ({shown})" if names else "")),
        ("convex objective", _convexity(details["convexity"])),
    ]


def _convexity(convexity: Convexity) -> str:
    floor = f"from --reg-strength {convexity['floor']:.3g} on"
    if convexity["superbag"]:
        return "yes, for every regularisation strength"
    if convexity["exists"]:
        return f"possible (convex='project'), or {floor}"
    return (
        f"not for the balanced risk (all proportions are on one side of ½); {floor}, and always "
        "for mean-map"
    )


def _outlook(outlook: Outlook, *, quick: bool) -> str:
    if "quick_fit" in outlook:
        from decorrupt.app.training.assumptions import in_interval

        own = outlook["quick_fit"]
        model = own["method"].replace("_", "-")
        return f"{outlook['words']} Quick {model} model, on held-out bags: {in_interval(own)}."
    hint = " --quick-fit trains one fast method and evaluates it on held-out bags."
    return outlook["words"] + (hint if quick else "")
