"""decorrupt demo: embedded data in bags, labels hidden, a model beside the supervised ceiling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from decorrupt.app.cli.options import refuse_existing
from decorrupt.app.cli.pages import make_page, page_module
from decorrupt.app.cli.text import bags_listing, leaderboard_text, listing, measured, table

if TYPE_CHECKING:
    from decorrupt.app.training.demo import DemoResult

DATA = ("breast-cancer", "digits", "wine")
MODEL, PAGE = "model.skops", "model.html"


def demo(
    data: Annotated[str, option("--data", help=f"One of {', '.join(DATA)}.")] = "breast-cancer",
    bag_size: Annotated[int, option("--bag-size", help="Rows of every bag.", min=2)] = 16,
    output: Annotated[
        str, option("--output", "-o", help="Directory for the model and the page.", metavar="DIR")
    ] = "out",
    seed: Seed = 0,
    jobs: Jobs = 1,
    config: Config = None,  # noqa: ARG001 — read by its callback
    json_output: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,  # noqa: ARG001 — read by its callback
    force: Force = False,
) -> None:
    """Train on embedded data cut into bags, from the bags' proportions alone.

    The training labels serve to compute the proportions and, for the ceiling, a second model that
    is trained on them. Both are measured on test rows.

    Example: decorrupt demo --data wine -o out
    """
    say = Output(json_output, quiet)
    folder = Path(output)
    model_path, page_path = folder / MODEL, folder / PAGE
    refuse_existing(*(str(p) for p in (model_path, page_path) if folder.is_dir()), force=force)
    if data not in DATA:
        raise typer.BadParameter(f"--data {data!r}: choose one of {', '.join(DATA)}")
    from decorrupt.app.training.demo import run_demo
    from decorrupt.model_files import save

    renderer = page_module()
    result = run_demo(data, bag_size, seed=seed, n_jobs=jobs)
    trained, card = result.trained, dict(result.trained.card)
    folder.mkdir(parents=True, exist_ok=True)
    save(trained.model, str(model_path), card, force=force)
    has_page = renderer is not None and make_page(
        lambda: renderer.render_model(card, trained.importance(seed), result.test),
        str(page_path),
        force=force,
    )
    found = {
        "data": data,
        "card": card,
        "test": result.test,
        "model": str(model_path),
        "page": str(page_path) if has_page else None,
    }
    say.result(found, _text(result, found))
    if renderer is not None and not has_page:
        raise typer.Exit(FAILED)


def _text(result: DemoResult, found: dict[str, Any]) -> str:
    card = found["card"]
    rows = [
        (
            name,
            measured(one["balanced_accuracy"]),
            measured(one["accuracy"]),
            measured(one["roc_auc"]),
        )
        for name, one in found["test"].items()
        if name != "n_rows"
    ]
    header = ("trained on", "balanced accuracy", "accuracy", "AUC")
    shown = found["page"] or found["model"]
    parts = [
        f"{result.title}: positives are {result.positive_class!r}; training labels hidden.\n"
        + listing(bags_listing(card["bags"]), "  "),
        leaderboard_text(card["leaderboard"], card["scoring"]),
        f"On {found['test']['n_rows']} test rows with labels, ± standard error\n"
        + table(header, rows),
        f"The model is {found['model']} (decorrupt explain {found['model']}).",
        f"Page: {Path(shown).resolve()}" if found["page"] else "",
    ]
    return "\n\n".join(part for part in parts if part)
