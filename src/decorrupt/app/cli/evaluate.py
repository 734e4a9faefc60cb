"""decorrupt evaluate: evaluate a model with labels, or on bags without labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, cast

import typer

from decorrupt.app.cli.checks import check_bags, check_file
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
    BagOptions,
    BagsArgument,
    CountColumn,
    CountColumns,
    LabelColumn,
    PositiveLabel,
    ProportionColumn,
    ProportionColumns,
    ReportPage,
    WeightColumn,
    bag_columns,
    open_table,
    read_bag_rows,
    refuse_existing,
)
from decorrupt.app.cli.pages import check_pages, make_page
from decorrupt.app.cli.predict import ClassPrior, ModelFile, open_predictor, read_class_prior
from decorrupt.app.tables import split_names

if TYPE_CHECKING:
    from decorrupt.app.training.bag_columns import BagColumns
    from decorrupt.app.training.predict import Predictions, Predictor
    from decorrupt.app.training.results import BagSummary, Evaluation, LabelResults
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
    class_prior: ClassPrior = None,
    sql: Sql = None,
    weight_column: WeightColumn = None,
    report: ReportPage = None,
    seed: Seed = 0,
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Evaluate a model with labels, or on bags without labels.

    --label-column: accuracy, balanced accuracy, AUC, Brier score, log loss, confusion matrix and
    calibration; for several classes recall and precision of each. --bag-column with
    --proportion-column or --count-column, or --proportion-columns or --count-columns: criteria that
    need no labels. Both can be given together.

    Example: decorrupt evaluate model.skops test.csv --label-column label --positive-label yes
    """
    say = Output(json_output, quiet)
    if label_column is None and bag_column is None and bags is None:
        raise typer.BadParameter("give --label-column, or --bag-column and --proportion-column")
    refuse_existing(report, force=force, inputs=(model, rows, bags))
    check_file(model)
    from decorrupt.app.tables import check_tables

    check_tables(rows, bags)
    prior = read_class_prior(class_prior)
    columns = None
    if bag_column is not None or bags is not None:
        columns = bag_columns(cast(BagOptions, context.params))
        check_bags(rows, bags, columns)
    from decorrupt.app.training.results import now
    from decorrupt.app.training.row_weights import repeat_rows

    check_pages(report)
    predictor = open_predictor(model)
    data = repeat_rows(open_table(rows, sql), weight_column)
    predictions = predictor.predict(data.frame, class_prior=prior, table=data.name)
    found: Evaluation = {
        "model": Path(model).name,
        "rows": Path(rows).name,
        "created": now(),
        "n_rows": len(data.frame),
        "warnings": predictor.warnings(),
    }
    if label_column is not None:
        shares = predictor.prior(prior)
        found["labels"] = _on_labels(
            predictor, data, predictions, label_column, positive_label, shares, say
        )
        _judge_labels(found, predictor, is_own=prior is None)
    in_bags = None
    if columns is not None:
        in_bags = _in_bags(predictor, data, bags, columns)
        say.tell(in_bags.notes)
        _add_bags(found, predictor, in_bags, predictions, seed)
    say.warn(found["warnings"] if json_output else [])  # the text contains them
    has_page = report is None or make_page(
        lambda: _page(found, predictor, in_bags, seed, quote(model)), report, force=force
    )
    from decorrupt.app.pages.documents import evaluation_document

    document = evaluation_document(found, predictor.card, quote(model))
    page = [page_section(report)] if report and has_page else []
    say.result(found, [*shown(document, verbose=verbose), *page])
    if not has_page:
        raise typer.Exit(FAILED)


def _on_labels(
    predictor: Predictor,
    data: Table,
    predictions: Predictions,
    label_column: str,
    positive_label: str | None,
    shares: Sequence[float],
    say: Output,
) -> LabelResults:
    from decorrupt.app.training.evaluate import evaluate_labels, read_class_labels
    from decorrupt.app.training.model_card import class_names
    from decorrupt.app.training.source_roles import note_negatives

    if predictor.has_several_classes:
        if positive_label is not None:
            raise typer.BadParameter("--positive-label is for models of two classes")
        names = class_names(predictor.card)
        labels = read_class_labels(data, label_column, names)
    else:
        own = _read_two_classes(predictor, data, label_column, positive_label)
        if positive_label is None:
            user_named = predictor.card["configuration"].get("positive_label") is not None
            say.tell(note_negatives(data.name, label_column, own, is_known=user_named))
        names, labels = [own.negative, own.positive], own.is_pos.astype(int)
    return evaluate_labels(predictions, labels, dict(zip(names, shares, strict=True)))


def _judge_labels(found: Evaluation, predictor: Predictor, *, is_own: bool) -> None:
    """Add the verdict, and what labels and training data say together where both can be believed.

    The estimate from training is that of the model's own decisions, without --class-prior.
    """
    from decorrupt.app.training.evaluate import combined, contradiction, mean_recall
    from decorrupt.app.training.verdict import USABLE, judge_labels

    recall, card = mean_recall(found["labels"]), predictor.card
    doubts = contradiction(recall, card["expected"]) if is_own else []
    found["warnings"] += doubts
    if is_own and not doubts and card["verdict"]["word"] == USABLE:
        found["combined"] = combined(recall, card["expected"])
    found["verdict"] = judge_labels(found["labels"], recall, found.get("combined"))


def _read_two_classes(
    predictor: Predictor, data: Table, label_column: str, positive_label: str | None
) -> Labels:
    from decorrupt.app.training.preprocess import as_text
    from decorrupt.app.training.source_roles import read_labels

    positive = str(predictor.classes[1])
    if positive_label is None and predictor.has_class_names and label_column in data.frame.columns:
        # A model of bags without names has the classes 0 and 1: label 1 of {1, 2} is not its "1".
        values = set(as_text(data.frame[label_column]).tolist())
        is_known = positive in values or set(split_names(positive)) <= values or len(values) == 1
        positive_label = positive if is_known else None
    return read_labels(data, label_column, positive_label)


def _in_bags(predictor: Predictor, data: Table, bags: str | None, columns: BagColumns) -> BagRows:
    from decorrupt.app.training.model_card import class_names
    from decorrupt.app.training.roles import match_classes

    rows = read_bag_rows(data, bags, columns)
    return match_classes(rows, class_names(predictor.card), are_named=predictor.has_class_names)


def _add_bags(
    found: Evaluation, predictor: Predictor, rows: BagRows, predictions: Predictions, seed: int
) -> None:
    from decorrupt.app.training.evaluate import evaluate_bags
    from decorrupt.app.training.results import Verdict
    from decorrupt.app.training.summary import summarize_bags
    from decorrupt.app.training.verdict import CHECK, judge_new_bags

    predictions = predictions.take(rows.table.frame.index.to_numpy())
    judged = evaluate_bags(predictor, rows, predictions, seed)
    found["bags"], found["bag_summary"] = judged.results, summarize_bags(rows.observed)
    if _same_bags(found["bag_summary"], predictor.card.get("bags")):
        why = "these are the bags that it was trained on, so its results here are too good"
        found["warnings"].append(why)
        n_labels = predictor.card["verdict"]["n_labels"]
        found.setdefault("verdict", Verdict(word=CHECK, why=why, n_labels=n_labels))
    elif judged.checks is not None:
        found["expected"], found["assumptions"] = judged.expected, judged.checks
        found.setdefault("verdict", judge_new_bags(predictor.card, found))


def _same_bags(bags: BagSummary, trained: BagSummary | None) -> bool:
    """Whether bags have the sizes and the information of those that a model was trained on."""
    return trained is not None and all(
        bags[name] == trained[name] for name in ("n_rows", "n_bags", "sizes", "information")
    )


def _page(
    found: Evaluation, predictor: Predictor, in_bags: BagRows | None, seed: int, model: str
) -> str:
    from decorrupt.app.pages.documents import evaluation_document
    from decorrupt.app.training.evaluate import bag_importance
    from decorrupt.documents import to_html

    if in_bags is not None:
        importance, criterion = bag_importance(predictor, in_bags, seed)
        found["bags"]["importance"], found["bags"]["importance_criterion"] = importance, criterion
    return to_html(evaluation_document(found, predictor.card, model))
