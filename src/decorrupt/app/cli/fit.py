"""decorrupt fit: train a model on tables and save it."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, cast

import typer

from decorrupt.app.cli.checks import check_model_ending, check_training
from decorrupt.app.cli.conventions import (
    FAILED,
    Force,
    Jobs,
    Json,
    Output,
    Quiet,
    Rows,
    Seed,
    Sql,
    Verbose,
    brief,
    resolved_configuration,
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
    ProportionColumn,
    ProportionColumns,
    ReportPage,
    SourceColumn,
    TrainingOptions,
    WeightColumn,
    bag_columns,
    left_out_in_words,
    read_training_data,
    refuse_existing,
    save_model,
)
from decorrupt.app.cli.pages import check_pages, make_page
from decorrupt.app.training.inexact_counts import check_method
from decorrupt.app.training.settings import (
    BAG_METHODS,
    SOURCE_METHODS,
    check_several_classes,
    method_name,
)


def fit(
    context: typer.Context,
    rows: Rows,
    bags: BagsArgument = None,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Model file to write, *.skops.", metavar="FILE")
    ],
    bag_column: BagColumn = None,
    proportion_column: ProportionColumn = None,
    count_column: CountColumn = None,
    proportion_columns: ProportionColumns = None,
    count_columns: CountColumns = None,
    count_noise: CountNoise = None,
    label_column: LabelColumn = None,
    positive_label: Annotated[
        str | None,
        typer.Option(
            "--positive-label",
            help="Name of the positive class; of sources all positive labels, comma-separated.",
            metavar="LABEL",
        ),
    ] = None,
    source_column: SourceColumn = None,
    noise_rates: NoiseRatesFile = None,
    drop: DropColumns = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help=f"Of bags: {', '.join(BAG_METHODS)}. Of sources: {', '.join(SOURCE_METHODS)}.",
            metavar="NAME",
        ),
    ] = "auto",
    decision: Annotated[
        str,
        typer.Option("--decision", help="Error to minimise: balanced or accuracy.", metavar="NAME"),
    ] = "balanced",
    sql: Sql = None,
    weight_column: WeightColumn = None,
    report: ReportPage = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Train a model from proportions of bags, or from noisy labels.

    Example: decorrupt fit voters.csv precincts.csv -o model.skops --report model.html

    Example: decorrupt fit voters.csv precincts.csv --bag-column precinct --count-columns
    red,green,blue -o model.skops

    Example: decorrupt fit reviews.csv --label-column label --positive-label sick --source-column
    reviewer -o model.skops

    With a table of bags, columns that no option names are guessed. Missing numbers are imputed,
    numbers scaled, categories one-hot encoded; the model file contains this. Counts such as <5 are
    ranges. The noise rates of sources are estimated unless --noise-rates are given.
    """
    say = Output(json_output, quiet)
    check_model_ending(output)
    refuse_existing(output, report, force=force, inputs=(rows, bags, noise_rates))
    given = cast(TrainingOptions, context.params)
    of_bags = check_training(given)
    name = method_name(method, BAG_METHODS if of_bags else SOURCE_METHODS)
    if of_bags and bag_columns(given).names_several_classes:
        check_several_classes(name)
    if count_noise is not None:
        check_method(name, "--count-noise")
    if decision not in ("balanced", "accuracy"):
        raise typer.BadParameter(f"--decision {decision!r}: choose balanced or accuracy")
    class_names = _class_names(positive_label) if of_bags else None
    check_pages(report)

    from decorrupt.app.pages.documents import model_document
    from decorrupt.app.training.settings import Settings
    from decorrupt.app.training.train import train
    from decorrupt.documents import to_html

    data, used = read_training_data(given, say)
    say.warn(left_out_in_words(used))
    settings = Settings(
        method=method, decision=decision, seed=seed, n_jobs=jobs, class_names=class_names
    )
    trained = train(data, used, settings)
    card = trained.card
    card["configuration"] = resolved_configuration(context)
    save_model(trained.model, output, card, force=force)
    say.warn(card["warnings"] if json_output else [])  # the text contains them
    held_out = trained.held_out

    def page() -> str:
        nonlocal held_out
        held_out = trained.importance(seed)
        return to_html(model_document(card, quote(output), held_out))

    has_page = report is None or make_page(page, report, force=force)
    document = model_document(card, quote(output), held_out)
    files = [("model", output), *([("page", report)] if report and has_page else [])]
    say.result(card, shown(document, verbose=True) if verbose else brief(document, files))
    if not has_page:
        raise typer.Exit(FAILED)


def _class_names(positive: str | None) -> tuple[str, str] | None:
    """Return the names of both classes of bags, if that of the positive one was given."""
    return None if positive is None else (f"not {positive}", positive)
