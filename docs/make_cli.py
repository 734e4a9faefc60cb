"""Write docs/cli.md from the definitions of the commands: ``python docs/make_cli.py``.

``python docs/make_cli.py --check`` writes nothing and fails if the file is not current.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

from decorrupt.app.cli.app import EPILOG, app
from decorrupt.app.cli.conventions import ENVIRONMENT
from decorrupt.app.training.methods import BAG_METHODS, SOURCE_METHODS

# How the value of an option is called where it says nothing better.
VALUES = {str: "TEXT", int: "NUMBER", float: "NUMBER"}
PAGE = Path(__file__).parent / "cli.md"
HEAD = f"""# The command line

<!-- Written by docs/make_cli.py; change the commands' definitions instead. -->

```text
decorrupt [--version] [--help] [--install-completion] COMMAND …
```

{EPILOG}

A TOML file for `--config` holds options by their names without the dashes, for all commands at its
top level and for one command in a table of its name; lists stand for names with commas between:

```toml
seed = 7

[fit]
bag-column = "branch"
proportion-column = "default_rate"
drop = ["customer", "opened"]
```

`--seed`, `--jobs`, `--quiet` and `--verbose` also listen to `{ENVIRONMENT}_SEED`,
`{ENVIRONMENT}_JOBS`, `{ENVIRONMENT}_QUIET` and `{ENVIRONMENT}_VERBOSE`, for all commands.

Long work shows a bar with the time left on a terminal. Elsewhere, as in a batch job, `--verbose`
prints one line per finished step. From Python the same lines go to
`logging.getLogger("decorrupt")`. `decorrupt --install-completion` makes the shell complete
commands and options.

Tables are read by the endings of their names: `.csv`, `.tsv` or `.txt` with any delimiter and
`.jsonl` or `.ndjson`, each also with `.gz`; `.parquet`; `.sqlite` or `.db` and `.duckdb` with
`--sql`; `-` is CSV on standard input. With `--sql`, a query over a CSV, Parquet or JSON file sees
it as the table `rows`. Messages count rows from 1, the header left out.
"""


def page() -> str:
    """Return the whole text."""
    commands = [info.callback for info in app.registered_commands if info.callback is not None]
    toc = [
        f"- [`decorrupt {name(one)}`](#decorrupt-{name(one)}): {summary(one)}" for one in commands
    ]
    return "\n".join([HEAD, *toc, "", *map(section, commands)])


def name(command: Callable[..., Any]) -> str:
    """Return what a command is called."""
    return command.__name__


def summary(command: Callable[..., Any]) -> str:
    """Return the first sentence of a command's help."""
    return paragraphs(command)[0]


def paragraphs(command: Callable[..., Any]) -> list[str]:
    """Return a command's help as lines without breaks."""
    return [" ".join(part.split()) for part in str(inspect.getdoc(command)).split("\n\n")]


def section(command: Callable[..., Any]) -> str:
    """Return a command's part of the page."""
    parameters = list(described(command))
    arguments = [one for one in parameters if one["kind"] == "argument"]
    options = [one for one in parameters if one["kind"] == "option"]
    usage = " ".join(["decorrupt", name(command), *(one["usage"] for one in arguments)])
    needed = "".join(f" {one['usage']}" for one in options if one["required"])
    *texts, example = paragraphs(command)
    lines = [f"## decorrupt {name(command)}", "", *interleaved(texts)]
    lines += ["```text", f"{usage}{needed} [OPTIONS]", "```", ""]
    lines += ["| argument or option | meaning | default |", "|---|---|---|"]
    lines += [f"| {one['shown']} | {one['help']} | {one['default']} |" for one in parameters]
    lines += ["", "Example:", "", "```console", f"$ {example.removeprefix('Example: ')}", "```"]
    if name(command) == "fit":
        lines += ["", *methods()]
    return "\n".join([*lines, ""])


def methods() -> list[str]:
    """Return what --method can be, as tables."""
    lines = ["| `--method` for bags | what it does |", "|---|---|"]
    lines += [f"| `{method}` | {meaning} |" for method, (_, meaning) in BAG_METHODS.items()]
    lines += ["", "| `--method` for sources | what it does |", "|---|---|"]
    return lines + [f"| `{method}` | {meaning} |" for method, meaning in SOURCE_METHODS.items()]


def interleaved(lines: list[str]) -> list[str]:
    """Return the lines with an empty one after each."""
    return [text for line in lines for text in (line, "")]


def described(command: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """Yield every argument and option: how it is written, what it means, its default."""
    hints = typing.get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind, info = annotation(hints[parameter.name])
        if info is None:
            continue  # the context
        required = parameter.default is inspect.Parameter.empty
        default = "" if required else shown_default(parameter.default)
        value = "" if kind is bool else f" {info.metavar or VALUES[kind]}"
        if isinstance(info, ArgumentInfo):
            word = info.metavar or parameter.name.upper()
            usage = word if required else f"[{word}]"
            shown, sort = f"`{word}`", "argument"
        else:
            decls = written(info)
            shown = ", ".join(f"`{text}{value if text.startswith('--') else ''}`" for text in decls)
            usage, sort = f"{decls[-1]}{value}", "option"
        yield {
            "kind": sort,
            "usage": usage,
            "shown": shown,
            "help": str(info.help).replace("|", "\\|"),
            "default": "needed" if required else default,
            "required": required,
        }


def written(info: OptionInfo) -> list[str]:
    """Return how an option is written, short forms first."""
    # In Annotated the first name stands where a default would; Typer moves it when it parses.
    found = [info.default, *(info.param_decls or ())]
    names = [text for text in found if isinstance(text, str) and text.startswith("-")]
    return sorted(names, key=lambda text: text.startswith("--"))


def annotation(hint: Any) -> tuple[type, ArgumentInfo | OptionInfo | None]:
    """Return the type of a parameter, without None, and what Typer knows of it."""
    if typing.get_origin(hint) is not typing.Annotated:
        return object, None
    kind, *extras = typing.get_args(hint)
    if isinstance(kind, types.UnionType):
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    infos = [extra for extra in extras if isinstance(extra, ArgumentInfo | OptionInfo)]
    return kind, infos[0]


def shown_default(value: Any) -> str:
    """Return a default as it would be typed."""
    return "" if value is None or value is False else f"`{value}`"


def main() -> int:
    """Write the page, or check that it is current."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{PAGE.name} is not current: run python docs/make_cli.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
