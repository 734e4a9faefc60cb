"""decorrupt evaluate: evaluate a model with labels, or on bags without labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from decorrupt.app.cli.checks import check_bags, check_file
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
)
from decorrupt.app.cli.options import (
    BagColumn,
    BagOptions,
    BagsArgument,
    ClassColumn,
    CountColumn,
    CountColumns,
    LabelColumn,
    PositiveLabel,
    ProportionColumn,
    ProportionColumns,
    ReportPage,
    bag_columns,
    open_table,
    read_bag_rows,
    refuse_existing,
)
from decorrupt.app.cli.pages import check_pages, make_page
from decorrupt.app.cli.predict import ClassPrior, ModelFile, open_predictor, read_class_prior
from decorrupt.app.cli.text import (
    assumptions_section,
    confusion_section,
    measured,
    measures,
    section,
    table,
)

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from decorrupt.app.training.bag_columns import BagColumns
    from decorrupt.app.training.predict import Predictions, Predictor
    from decorrupt.app.training.results import Evaluation, LabelResults
    from decorrupt.app.training.roles import BagRows
    from decorrupt.app.training.source_roles import Labels
    from decorrupt.app.training.table import Table


def evaluate(
    context: typer.Context,
    model: ModelFile,
    rows: Rows,
    bags: BagsArgument = None,
    *,
    label_column: LabelColumn = None,
    positive_label: PositiveLabel = None,
    bag_column: BagColumn = None,
    proportion_column: ProportionColumn = None,
    count_column: CountColumn = None,
    proportion_columns: ProportionColumns = None,
    count_columns: CountColumns = None,
    class_column: ClassColumn = None,
    class_prior: ClassPrior = None,
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
    """Evaluate a model on rows it was not trained on, with labels or with proportions of bags.

    --label-column: accuracy, balanced accuracy, AUC, Brier score, log loss, confusion matrix and
    calibration; for several classes recall and precision of each. --bag-column with
    --proportion-column or --count-column, or --proportion-columns, --count-columns or
    --class-column: criteria that need no labels. Both can be given together.

    Example: decorrupt evaluate model.skops test.csv --label-column label --positive-label yes
    """
    say = Output(json_output, quiet)
    if label_column is None and bag_column is None and bags is None:
        raise typer.BadParameter("give --label-column, or --bag-column and --proportion-column")
    refuse_existing(report, force=force)
    check_file(model)
    from decorrupt.app.tables import check_tables

    check_tables(rows, bags)
    prior = read_class_prior(class_prior)
    columns = None
    if bag_column is not None or bags is not None:
        columns = bag_columns(cast(BagOptions, context.params))
        check_bags(rows, bags, columns)
    from decorrupt.app.training.results import now

    check_pages(report)
    predictor = open_predictor(model)
    data = open_table(rows, sql, decimal)
    predictions = predictor.predict(data.frame, class_prior=prior, table=data.name)
    found: Evaluation = {
        "model": Path(model).name,
        "rows": Path(rows).name,
        "created": now(),
        "n_rows": len(data.frame),
        "warnings": predictor.unseen_in_words(),
    }
    if label_column is not None:
        shares = predictor.prior(prior)
        found["labels"] = _on_labels(
            predictor, data, predictions, label_column, positive_label, shares
        )
    in_bags = None
    if columns is not None:
        in_bags = _in_bags(predictor, data, bags, columns, decimal)
        say.tell(in_bags.notes)
        _add_bags(found, predictor, in_bags, predictions, seed)
    say.warn(found["warnings"])
    has_page = report is None or make_page(
        lambda: _page(found, predictor, in_bags, seed), report, force=force
    )
    say.result(found, *_parts(found))
    if not has_page:
        raise typer.Exit(FAILED)


def _on_labels(
    predictor: Predictor,
    data: Table,
    predictions: Predictions,
    label_column: str,
    positive_label: str | None,
    shares: Sequence[float],
) -> LabelResults:
    from decorrupt.app.training.evaluate import evaluate_labels, read_class_labels
    from decorrupt.app.training.model_card import class_names

    if predictor.has_several_classes:
        if positive_label is not None:
            raise typer.BadParameter("--positive-label is for models of two classes")
        names = class_names(predictor.card)
        labels = read_class_labels(data, label_column, names)
    else:
        own = _read_two_classes(predictor, data, label_column, positive_label)
        names, labels = [own.negative, own.positive], own.is_pos.astype(int)
    return evaluate_labels(predictions, labels, dict(zip(names, shares, strict=True)))


def _read_two_classes(
    predictor: Predictor, data: Table, label_column: str, positive_label: str | None
) -> Labels:
    from decorrupt.app.training.preprocess import as_text
    from decorrupt.app.training.source_roles import read_labels

    positive = str(predictor.classes[1])
    if positive_label is None and predictor.has_class_names and label_column in data.frame.columns:
        # It knows which label is positive; a model of bags without names, whose classes are called
        # 0 and 1, must not take the 1 of labels 1 and 2 for its own.
        values = set(as_text(data.frame[label_column]).tolist())
        positive_label = positive if set(positive.split(",")) <= values else None
    return read_labels(data, label_column, positive_label)


def _in_bags(
    predictor: Predictor, data: Table, bags: str | None, columns: BagColumns, decimal: str | None
) -> BagRows:
    from decorrupt.app.training.model_card import class_names
    from decorrupt.app.training.roles import match_classes

    rows = read_bag_rows(data, bags, columns, decimal)
    return match_classes(rows, class_names(predictor.card), are_named=predictor.has_class_names)


def _add_bags(
    found: Evaluation, predictor: Predictor, rows: BagRows, predictions: Predictions, seed: int
) -> None:
    from decorrupt.app.training.evaluate import evaluate_bags
    from decorrupt.app.training.summary import summarize_bags

    evaluated = evaluate_bags(predictor, rows, predictions, seed)
    found["bags"], found["expected"] = evaluated.results, evaluated.expected
    found["assumptions"] = evaluated.assumptions
    found["warnings"] += evaluated.warnings
    found["bag_summary"] = summarize_bags(rows.observed)


def _page(found: Evaluation, predictor: Predictor, in_bags: BagRows | None, seed: int) -> str:
    from decorrupt.app.pages.model_page import render_evaluation
    from decorrupt.app.training.evaluate import bag_importance

    if in_bags is not None:
        importance, criterion = bag_importance(predictor, in_bags, seed)
        found["bags"]["importance"], found["bags"]["importance_criterion"] = importance, criterion
    return render_evaluation(found, predictor.card)


def _parts(found: Evaluation) -> list[RenderableType]:
    title = (
        f"{found['model']} on {found['n_rows']:,} rows of {found['rows']}; ± is one standard error"
    )
    parts: list[RenderableType] = [title, *assumptions_section(found.get("assumptions", []))]
    if "labels" in found:
        parts += _label_sections(found["labels"])
    if "bags" in found:
        title = (
            f"Without labels, on {found['bag_summary']['n_bags']} bags (these must not be bags it "
            "was trained on)"
        )
        several = len(found["bags"]["classes"]) > 2
        criteria = measures(found["bags"]["criteria"], several_classes=several)
        parts.append(section(title, criteria))
    return parts


def _label_sections(labels: LabelResults) -> list[Group]:
    classes, several = labels["classes"], len(labels["classes"]) > 2
    positive = classes[-1]
    what = f"{positive['n_rows']:,} of {labels['n_rows']:,} positive ({positive['name']!r})"
    if several:
        what = f"{len(classes)} classes"
    return [
        section(f"With labels, {what}", measures(labels["metrics"])),
        *(_by_class(labels) if several else [_confusion(labels["confusion"])]),
        _calibration(labels, several=several),
    ]


def _confusion(confusion: Sequence[Sequence[int]]) -> Group:
    """Return the confusion matrix of two classes, the positive one first."""
    rows = [
        (name, *(f"{n:,}" for n in reversed(row)))
        for name, row in zip(("positive", "negative"), reversed(confusion), strict=True)
    ]
    header = ("true class", "predicted positive", "predicted negative")
    return section("Confusion matrix", table(header, rows))


def _by_class(labels: LabelResults) -> list[Group]:
    rows = [
        (one["name"], f"{one['n_rows']:,}", measured(one["recall"]), measured(one["precision"]))
        for one in labels["classes"]
    ]
    return [
        section("Classes", table(("class", "rows", "recall", "precision"), rows)),
        confusion_section([one["name"] for one in labels["classes"]], labels["confusion"]),
    ]


def _calibration(labels: LabelResults, *, several: bool) -> Group:
    rows = [
        (
            f"{one['low']:.3f} to {one['high']:.3f}",
            f"{one['n_rows']:,}",
            f"{one['predicted']:.3f}",
            f"{one['share']:.3f} ± {one['std_error']:.3f}",
        )
        for one in labels["calibration"]
    ]
    title, share = "Calibration of the predicted class", "share correct"
    if not several:
        prior = labels["class_shares"][labels["classes"][-1]["name"]]
        title = f"Calibration, probabilities for {prior:.1%} positives"
        share = "share of positives"
    return section(title, table(("probability", "rows", "mean predicted", share), rows))
