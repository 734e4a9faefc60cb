"""The command ``decorrupt``: its commands, and error messages and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from decorrupt import __version__
from decorrupt.app.cli.conventions import (
    FAILED,
    INTERRUPTED,
    TERMINATED,
    WRONG_USAGE,
    about_file,
    print_error_line,
)
from decorrupt.app.cli.demo import demo
from decorrupt.app.cli.evaluate import evaluate
from decorrupt.app.cli.explain import explain
from decorrupt.app.cli.fit import fit
from decorrupt.app.cli.inspect import inspect
from decorrupt.app.cli.predict import predict
from decorrupt.app.cli.table import table

HELP_OPTIONS: dict[str, Any] = {"help_option_names": ["--help", "-h"]}

app = typer.Typer(
    name="decorrupt",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP_OPTIONS,
)
for command in (demo, inspect, fit, predict, evaluate, explain, table):
    app.command(context_settings=HELP_OPTIONS)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"decorrupt {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def decorrupt(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Train classifiers from label proportions of bags, or from noisy labels of sources.

    Example: decorrupt demo

    Example: decorrupt fit --help

    Results go to standard output or -o, messages to standard error. Exit code 0: success, 1:
    failure, 2: wrong usage or bad data.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 fine, 1 failed, 2 wrong usage or bad data."""
    try:
        code = app(args=arguments, prog_name="decorrupt", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # which the parser returns
            print_error_line("error", "interrupted")
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        print_error_line("error", "interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        message, code = failure(error)
        print_error_line("error", message)
        return code


def failure(error: Exception) -> tuple[str, int]:
    """Return the error message and the exit code."""
    if hasattr(error, "format_message"):  # the parser's own errors
        context: Any = getattr(error, "ctx", None)
        where = f" (see '{context.command_path} --help')" if context is not None else ""
        return error.format_message().removeprefix("Invalid value: ") + where, WRONG_USAGE
    if isinstance(error, FileExistsError):
        return str(error), WRONG_USAGE
    if isinstance(
        error, FileNotFoundError | PermissionError | IsADirectoryError | NotADirectoryError
    ):
        return about_file(error), WRONG_USAGE
    if isinstance(error, OSError):
        return about_file(error), FAILED
    if isinstance(error, ValueError):  # bad data and bad settings: tables, models, estimators
        return str(error), WRONG_USAGE
    return (
        f"{type(error).__name__}: {error or 'no message'}: this is a bug; please report it",
        FAILED,
    )


def main() -> None:
    """Run the command line of this process."""
    # Closed streams are None; these stay open until the process ends.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 — see above
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 — see above
    # SystemExit runs open context managers, which delete temporary files.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    sys.exit(run())
