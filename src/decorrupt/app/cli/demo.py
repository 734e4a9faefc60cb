"""decorrupt demo: train on embedded data from proportions, and compare with true labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from decorrupt.app.cli.conventions import (
    FAILED,
    Force,
    Jobs,
    Json,
    Output,
    Quiet,
    Seed,
    Verbose,
    brief,
    shown,
)
from decorrupt.app.cli.options import check_folder, refuse_existing, save_model
from decorrupt.app.cli.pages import can_make_pages, make_page

if TYPE_CHECKING:
    from decorrupt.app.training.demo import DemoResult
    from decorrupt.documents import Document

DATA = ("breast-cancer", "digits", "wine")
MODEL, PAGE = "model.skops", "model.html"


def demo(
    data: Annotated[str, typer.Option("--data", help=f"One of {', '.join(DATA)}.")] = "digits",
    bag_size: Annotated[
        int | None,
        typer.Option(
            "--bag-size",
            help="Number of rows per bag; by default 32 for digits, 8 for wine, 16 for "
            "breast-cancer.",
            min=2,
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Directory for the model and the page.", metavar="DIR"),
    ] = "out",
    seed: Seed = 0,
    jobs: Jobs = 1,
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
    from decorrupt.documents import Section, Text, to_html

    wants_page = can_make_pages()
    result = run_demo(data, bag_size, seed=seed, n_jobs=jobs)
    trained, card = result.trained, result.trained.card
    folder.mkdir(parents=True, exist_ok=True)
    save_model(trained.model, str(model_path), card, force=force)
    document = _document(result, str(model_path), seed)
    has_page = wants_page and make_page(lambda: to_html(document), str(page_path), force=force)
    found = {
        "data": data,
        "card": card,
        "test": result.test,
        "labels": result.labels,
        "model": str(model_path),
        "page": str(page_path) if has_page else None,
    }
    files = [("model", str(model_path)), *([("page", str(page_path))] if has_page else [])]
    compared = [section for section in document.sections if section.name == "comparison"]
    about = Section("demo", "", [Text(_about(result))])
    short = [about, *compared, *brief(document, files)]
    say.result(found, shown(document, verbose=True) if verbose else short)
    if wants_page and not has_page:
        raise typer.Exit(FAILED)


def _about(result: DemoResult) -> str:
    observed = result.data.observed
    return (
        f"{result.data.title}: {observed.n_rows:,} rows of {observed.n_classes} classes in "
        f"{observed.n_bags} bags. Only the counts of each bag are known in training."
    )


def _document(result: DemoResult, model: str, seed: int) -> Document:
    from decorrupt.app.pages.demo_section import demo_sections
    from decorrupt.app.pages.documents import model_document

    trained = result.trained
    # The importance of single pixels says little and takes long.
    is_image = result.data.image_shape is not None
    held_out = trained.held_out if is_image else trained.importance(seed)
    return model_document(trained.card, model, held_out, demo_sections(result))
