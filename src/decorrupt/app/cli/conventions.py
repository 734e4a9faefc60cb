"""Conventions of all commands: common options, configuration, results and messages."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from decorrupt.app.cli.show import print_sections
from decorrupt.app.training.name_lists import join_names
from decorrupt.documents import one_line, printable_json
from decorrupt.progress import log_step, logger, silence

if TYPE_CHECKING:
    from rich.console import Console

    from decorrupt.app.training.model_card import Value
    from decorrupt.documents import Section

ENVIRONMENT = "DECORRUPT"
# Exit codes; the last two are what a shell gives for SIGINT and SIGTERM.
FAILED, WRONG_USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143
# How click names the places a value can come from, and how a reader would.
SOURCES = {
    "COMMANDLINE": "command line",
    "ENVIRONMENT": "environment",
    "DEFAULT_MAP": "config file",
    "DEFAULT": "default",
}
NOT_RECORDED = ("config", "json_output", "quiet", "verbose", "force")
MINUS = "-"


def option(*names: str, help: str, shared: bool = False, **settings: Any) -> Any:  # noqa: A002
    """Return a Typer option that can also be set through the environment and a config file.

    The variable is DECORRUPT_<COMMAND>_<OPTION>; `shared` options can also be set for all commands
    through DECORRUPT_<OPTION>.
    """
    if shared:
        settings["envvar"] = f"{ENVIRONMENT}_{names[0].lstrip('-').replace('-', '_').upper()}"
    return typer.Option(*names, help=help, show_envvar=False, **settings)


def read_config(context: typer.Context, path: str | None) -> str | None:
    """Take defaults from a TOML file: its top level, then the table of the command's name."""
    if path is None or context.resilient_parsing:
        return path
    values = _toml(path)
    own = values.get(str(context.info_name), {})
    if not isinstance(own, dict):
        raise typer.BadParameter(f"{path}: {context.info_name} must be a table of options")
    shared = {key: value for key, value in values.items() if not isinstance(value, dict)}
    known = {str(parameter.name): parameter for parameter in context.command.params}
    defaults: dict[str, Any] = {}
    for key, value in [*shared.items(), *own.items()]:
        name = _parameter_name(key, known)
        if name is None or name == "config":
            if key in shared and key not in own:
                if _known_elsewhere(key, context):
                    continue
                raise typer.BadParameter(f"{path}: no command has an option {key!r}")
            raise typer.BadParameter(f"{path}: unknown key {key!r} in [{context.info_name}]")
        defaults[name] = join_names(value) if isinstance(value, list) else value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def _known_elsewhere(key: str, context: typer.Context) -> bool:
    """Whether another command has the option that a key at the file's top level means."""
    commands = getattr(context.find_root().command, "commands", {}).values()
    return any(
        _parameter_name(key, {str(p.name): p for p in command.params}) for command in commands
    )


def _toml(path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise typer.BadParameter(f"{path}: cannot be read as TOML: {reason}") from None


def _parameter_name(key: str, known: dict[str, Any]) -> str | None:
    """Return the parameter a key of a config file means: by its option or by its name."""
    flag = "--" + key.replace("_", "-")
    for name, parameter in known.items():
        if flag in parameter.opts or key.replace("-", "_") == name:
            return name
    return None


def check_jobs(jobs: int) -> int:
    """Return a valid number of jobs."""
    if jobs == 0:
        raise typer.BadParameter(
            "0 parallel fits are not possible: use 1 or more, or -1 for all cores"
        )
    return jobs


def be_quiet(context: typer.Context, quiet: bool) -> bool:
    """Show no progress while a quiet command runs."""
    if quiet and not context.resilient_parsing:
        context.with_resource(silence())
    return quiet


def be_verbose(context: typer.Context, verbose: bool) -> bool:
    """Print the lines of the logger "decorrupt" to stderr while a verbose command runs."""
    if verbose and not context.resilient_parsing:
        context.with_resource(_lines_on_stderr())
    return verbose


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record))


@contextmanager
def _lines_on_stderr() -> Iterator[None]:
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("%(asctime)s %(message)s", "%H:%M:%S"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def check_decimal(mark: str | None) -> str | None:
    """Return a valid decimal mark."""
    if mark not in (None, ".", ","):
        raise typer.BadParameter(f"{mark!r} is not a decimal mark: use . or ,")
    return mark


Rows = Annotated[
    str, typer.Argument(help="Table of rows; - is CSV on standard input.", metavar="ROWS")
]
Sql = Annotated[
    str | None,
    option(
        "--sql",
        help="Query that returns the rows, from a database or from the table 'rows' (your file).",
        metavar="QUERY",
    ),
]
Decimal = Annotated[
    str | None,
    option(
        "--decimal",
        help="Decimal mark of CSV: . or , (detected by default).",
        metavar="MARK",
        callback=check_decimal,
    ),
]
Config = Annotated[
    str | None,
    option(
        "--config",
        help="TOML file with options.",
        callback=read_config,
        is_eager=True,
        metavar="FILE",
    ),
]
Json = Annotated[bool, option("--json", help="Print the result as JSON.")]
Quiet = Annotated[
    bool,
    option(
        "--quiet", "-q", help="Print no messages except errors.", shared=True, callback=be_quiet
    ),
]
Verbose = Annotated[
    bool,
    option(
        "--verbose",
        "-v",
        help="Print all details, and one line per finished step.",
        shared=True,
        callback=be_verbose,
    ),
]
Force = Annotated[bool, option("--force", "-f", help="Overwrite files that exist.")]
Seed = Annotated[
    int, option("--seed", help="Random seed.", metavar="N", shared=True, min=0, max=2**32 - 1)
]
Jobs = Annotated[
    int,
    option(
        "--jobs",
        "-j",
        help="Number of parallel fits; -1 for all cores.",
        metavar="N",
        shared=True,
        callback=check_jobs,
    ),
]


@dataclass(frozen=True)
class Output:
    """Where results and messages go: results to stdout, messages to stderr.

    Attributes
    ----------
    as_json : bool
        Print the result as JSON instead of text.
    quiet : bool
        Print no messages except errors.
    """

    as_json: bool = False
    quiet: bool = False

    @property
    def console(self) -> Console:
        """Messages: coloured on a terminal unless NO_COLOR is set."""
        return console()

    def note(self, message: str) -> None:
        """Print progress on a terminal; elsewhere it is a line of the log."""
        if not self.quiet and sys.stderr.isatty():
            self.console.print(one_line(message), style="dim", markup=False, highlight=False)
        else:
            log_step(message)

    def tell(self, messages: Iterable[str]) -> None:
        """Print notes that are no warnings, on pipes as well."""
        for message in () if self.quiet else messages:
            print_error_line("note", message)

    def warn(self, messages: Iterable[str]) -> None:
        """Print warnings, on pipes as well."""
        for message in () if self.quiet else messages:
            print_error_line("warning", message)

    def result(self, value: Mapping[str, object] | None, sections: Sequence[Section]) -> None:
        """Print a result, as JSON or as text."""
        if self.as_json:
            text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
            sys.stdout.write(printable_json(text) + "\n")
        else:
            print_sections(sections)
        sys.stdout.flush()


def console() -> Console:
    """Return a console on stderr that never breaks a line in two."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True)


def print_error_line(kind: str, message: str) -> None:
    """Print one line to stderr: ``error: …``, ``warning: …`` or ``note: …``."""
    style = {"error": "bold red", "warning": "yellow"}.get(kind, "dim")
    to = console()
    to.print(f"{kind}:", style=style, end=" ", markup=False, highlight=False)
    to.print(one_line(message), markup=False, highlight=False)


def about_file(error: OSError) -> str:
    """Return the message of an error of the operating system, with the file as it was given."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def resolved_configuration(context: typer.Context) -> tuple[dict[str, Value], dict[str, str]]:
    """Return every option's value and where it came from; of files only their names."""
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in NOT_RECORDED or name not in context.params:
            continue
        value = context.params[name]
        shown = name.removesuffix("_path")
        values[shown] = Path(value).name if isinstance(value, str) and "/" in value else value
        source = context.get_parameter_source(name)
        sources[shown] = SOURCES.get(getattr(source, "name", ""), "default")
    return values, sources
