"""decorrupt demo: train on embedded data from proportions, and compare with true labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from decorrupt.app.cli.conventions import (
    FAILED,
    Config,
    Force,
    Jobs,
    Json,
    Output,
    Quiet,
    Seed,
    Verbose,
    option,
)
from decorrupt.app.cli.options import check_folder, refuse_existing, save_model
from decorrupt.app.cli.pages import can_make_pages, make_page
from decorrupt.app.cli.text import (
    bag_parts,
    confusion_section,
    leaderboard_section,
    line,
    measured,
    section,
    table,
)

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from decorrupt.app.training.demo import DemoResult
    from decorrupt.app.training.results import LabelResults

DATA = ("breast-cancer", "digits", "wine")
MODEL, PAGE = "model.skops", "model.html"
# {whether there are several classes: the measures to show}.
SHOWN = {
    False: {"balanced_accuracy": "balanced accuracy", "accuracy": "accuracy", "roc_auc": "AUC"},
    True: {"accuracy": "accuracy", "macro_recall": "mean recall", "log_loss": "log loss"},
}


def demo(
    data: Annotated[str, option("--data", help=f"One of {', '.join(DATA)}.")] = "digits",
    bag_size: Annotated[
        int | None,
        option(
            "--bag-size",
            help="Number of rows per bag; by default 32 for digits, 8 for wine, 16 for "
            "breast-cancer.",
            min=2,
        ),
    ] = None,
    output: Annotated[
        str, option("--output", "-o", help="Directory for the model and the page.", metavar="DIR")
    ] = "out",
    seed: Seed = 0,
    jobs: Jobs = 1,
    config: Config = None,
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    force: Force = False,
) -> None:
    """Train on embedded data from the proportions of bags only.

    The training labels are used to compute the proportions, and to train a second model for
    comparison. Both models are evaluated on test rows.

    Example: decorrupt demo --data wine -o out
    """
    say = Output(json_output, quiet)
    folder = Path(output)
    model_path, page_path = folder / MODEL, folder / PAGE
    check_folder(output)
    refuse_existing(*(str(p) for p in (model_path, page_path) if folder.is_dir()), force=force)
    if data not in DATA:
        raise typer.BadParameter(f"--data {data!r}: choose one of {', '.join(DATA)}")
    from decorrupt.app.training.demo import run_demo

    wants_page = can_make_pages()
    result = run_demo(data, bag_size, seed=seed, n_jobs=jobs)
    trained, card = result.trained, result.trained.card
    folder.mkdir(parents=True, exist_ok=True)
    save_model(trained.model, str(model_path), card, force=force)
    has_page = wants_page and make_page(lambda: _page(result, seed), str(page_path), force=force)
    found = {
        "data": data,
        "card": card,
        "test": result.test,
        "labels": result.labels,
        "model": str(model_path),
        "page": str(page_path) if has_page else None,
    }
    say.result(found, *_parts(result, str(model_path), page_path if has_page else None))
    if wants_page and not has_page:
        raise typer.Exit(FAILED)


def _page(result: DemoResult, seed: int) -> str:
    from decorrupt.app.pages.demo_section import demo_sections
    from decorrupt.app.pages.model_page import render_model

    trained = result.trained
    # The importance of single pixels says little and takes long.
    is_image = result.data.image_shape is not None
    held_out = trained.held_out if is_image else trained.importance(seed)
    if not result.has_several_classes:
        return render_model(trained.card, held_out, result.test)
    return render_model(trained.card, held_out, None, demo_sections(result))


def _parts(result: DemoResult, model: str, page: Path | None) -> list[RenderableType]:
    card, test, data = result.trained.card, result.test, result.data
    several = result.has_several_classes
    shown = SHOWN[several]
    rows = [
        (name, *(measured(metrics[key]) for key in shown))
        for name, metrics in test["models"].items()
    ]
    header = ("trained on", *shown.values())
    what = f"{data.observed.n_classes} classes"
    if not several:
        what = f"positives are {data.positive_class!r}"
    title = f"{data.title}: {what}; training labels are hidden"
    return [
        section(title, *bag_parts(card["bags"])),
        leaderboard_section(card),
        section(
            f"On {test['n_rows']} test rows with labels; ± is one standard error",
            table(header, rows),
        ),
        *([_confusion(result.labels)] if several else []),
        line(f"Model: {model} (see 'decorrupt explain {model}')"),
        *([line(f"Page: {page.resolve()}")] if page else []),
    ]


def _confusion(labels: LabelResults) -> Group:
    names = [one["name"] for one in labels["classes"]]
    return confusion_section(names, labels["confusion"])
