"""decorrupt inspect: information, columns and warnings of data before any training."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, cast

import typer

from decorrupt.app.cli.checks import check_training
from decorrupt.app.cli.conventions import (
    FAILED,
    Force,
    Json,
    Output,
    Quiet,
    Rows,
    Seed,
    Sql,
    Verbose,
    page_section,
    shown,
)
from decorrupt.app.cli.options import (
    BagColumn,
    BagsArgument,
    CountColumn,
    CountColumns,
    CountNoise,
    DropColumns,
    LabelColumn,
    NoiseRatesFile,
    PositiveLabel,
    ProportionColumn,
    ProportionColumns,
    ReportPage,
    SourceColumn,
    TrainingOptions,
    WeightColumn,
    read_training_data,
    refuse_existing,
)
from decorrupt.app.cli.pages import check_pages, make_page

if TYPE_CHECKING:
    from decorrupt.app.training.columns import Features
    from decorrupt.app.training.results import Inspection
    from decorrupt.app.training.roles import BagRows
    from decorrupt.app.training.source_roles import SourceRows

# Options of `inspect` that do not describe data.
NOT_FOR_FIT = ("report", "json_output", "quiet", "verbose", "force")


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
    count_noise: CountNoise = None,
    label_column: LabelColumn = None,
    positive_label: PositiveLabel = None,
    source_column: SourceColumn = None,
    noise_rates: NoiseRatesFile = None,
    drop: DropColumns = None,
    sql: Sql = None,
    weight_column: WeightColumn = None,
    report: ReportPage = None,
    seed: Seed = 0,
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Show before any training whether a model can be learned.

    Example: decorrupt inspect voters.csv precincts.csv

    Example: decorrupt inspect reviews.csv --label-column label --positive-label sick
    --source-column reviewer

    Prints a verdict, warnings, rows and bags or sources, and how many labelled rows they are worth;
    with -v also the tests of the assumptions, the columns and the bags one by one. Input that 'fit'
    refuses is refused with the same message.
    """
    say = Output(json_output, quiet)
    refuse_existing(report, force=force, inputs=(rows, bags, noise_rates))
    given = cast(TrainingOptions, context.params)
    check_training(given)
    check_pages(report)
    data, used = read_training_data(given, say)
    found = _inspected(data, used, seed=seed)
    from decorrupt.app.pages.documents import inspection_document
    from decorrupt.documents import to_html

    document = inspection_document(found, fit_command(context))
    has_page = report is None or make_page(lambda: to_html(document), report, force=force)
    page = [page_section(report)] if report and has_page else []
    say.result(found, [*shown(document, verbose=verbose), *page])
    if not has_page:
        raise typer.Exit(FAILED)


def fit_command(context: typer.Context) -> str:
    """Return the command that trains a model on the data that these options describe."""
    words = ["decorrupt", "fit"]
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params[str(parameter.name)]
        source = getattr(context.get_parameter_source(name), "name", "")
        if name in NOT_FOR_FIT or source == "DEFAULT" or value is None:
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        else:
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], str(value)]
    return shlex.join([*words, "-o", "model.skops", "--report", "model.html"])


def _inspected(data: BagRows | SourceRows, features: Features, *, seed: int) -> Inspection:
    from decorrupt.app.training.inspect import inspect_bags, inspect_sources
    from decorrupt.app.training.roles import BagRows

    if isinstance(data, BagRows):
        return inspect_bags(data, features, seed=seed)
    return inspect_sources(data, features, seed=seed)
