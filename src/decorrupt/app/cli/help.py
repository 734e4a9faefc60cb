"""Help: summary, examples, explanation, and commands or options in panels."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

from decorrupt.app.cli.checks import BAG_VALUES
from decorrupt.app.cli.conventions import Output
from decorrupt.app.cli.environment import misspelt_variables

EXAMPLE = "Example: "
MAX_WIDTH = 100
NAMES_WIDTH, SHORT_NAMES = 30, 12  # of options with their values, of commands
# {panel: the parameters in it}; the order of the panels and of what is in them.
PANELS: Mapping[str, Sequence[str]] = {
    "Your data": ("model", "rows", "bags", "places", "sql", "decimal", "weight_column"),
    "Bags": ("bag_column", *BAG_VALUES),
    "Sources": (
        "label_column",
        "positive_label",
        "negative_label",
        "source_column",
        "noise_rates",
        "estimate_noise_rates",
    ),
    "Columns": ("features", "drop", "categorical"),
    "Model": ("method", "decision", "kernel", "kernel_gamma", "reg_strength", "folds", "seed"),
    "Large data": ("jobs",),
    "Output": ("output", "report", "json_output", "quiet", "verbose", "force", "config", "help"),
}
# The same for parameters with another meaning in one command.
OWN_PANELS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "fit": {"Your data": ("positive_label", "negative_label")},
    "evaluate": {"Labels": ("label_column", "positive_label")},
    "bags": {"Your data": ("label_column", "positive_label"), "Options": ("bag_column", "seed")},
    "demo": {"Options": ("seed", "jobs")},
    "table": {"Your data": ("groups", "outcomes", "place_column", "other", "count_noise")},
}
OTHERS = "Options"


def paragraphs(docstring: str | None) -> list[str]:
    """Return a docstring with each paragraph on one line, for terminals of any width."""
    return [" ".join(part.split()) for part in (docstring or "").split("\n\n")]


def examples(docstring: str | None) -> list[str]:
    """Return the commands that a docstring shows as examples."""
    found = paragraphs(docstring)
    return [one.removeprefix(EXAMPLE) for one in found if one.startswith(EXAMPLE)]


def panel_of(command: str | None, parameter: str) -> str:
    """Return the panel of a parameter."""
    own = OWN_PANELS.get(command or "", {})
    for panels in (own, PANELS):
        for title, names in panels.items():
            if parameter in names:
                return title
    return OTHERS


class Command(TyperCommand):
    """A command that prints its help in panels.

    Typer's own help cuts long option names at 80 columns, prints the type of flags, and has
    separate panels for arguments.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help to the formatter."""
        usage = " ".join([ctx.command_path, *_arguments(self.get_params(ctx))])
        panels = {
            title: [(names_of(one), description_of(one)) for one in parameters]
            for title, parameters in self.panels(ctx).items()
        }
        _write(formatter, usage, self.help, panels)

    def panels(self, ctx: Any) -> dict[str, list[Any]]:
        """Return {panel: its parameters}, without empty panels."""
        first, *others = PANELS
        # What only this command has comes after its data.
        own = [one for one in OWN_PANELS.get(self.name or "", {}) if one not in PANELS]
        found: dict[str, list[Any]] = {title: [] for title in (first, OTHERS, *own, *others)}
        for parameter in self.get_params(ctx):
            if not getattr(parameter, "hidden", False):
                found[panel_of(self.name, parameter.name)].append(parameter)
        order = [name for names in PANELS.values() for name in names]
        for parameters in found.values():
            parameters.sort(key=lambda one: order.index(one.name) if one.name in order else 0)
        return {title: parameters for title, parameters in found.items() if parameters}

    def invoke(self, ctx: Any) -> Any:
        """Run the command; report misspelt environment variables first."""
        Output(quiet=bool(ctx.params.get("quiet"))).warn(
            misspelt_variables(ctx.find_root().command)
        )
        return super().invoke(ctx)


class Group(TyperGroup):
    """The program itself, with its commands in panels."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help to the formatter."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            panels.setdefault(command.rich_help_panel, []).append((name, command.short_help))
        panels[OTHERS] = [(names_of(one), description_of(one)) for one in self.get_params(ctx)]
        _write(formatter, f"{ctx.command_path} COMMAND [OPTIONS]", self.help, panels)


def _write(
    formatter: Any, usage: str, text: str | None, panels: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    """Write help to a formatter, in colour on a terminal."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    console.width = min(console.width, MAX_WIDTH)
    with console.capture() as captured:
        for part in _help_parts(usage, text, panels, console.width):
            console.print(part)
    lines = [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
    formatter.write("\n".join(lines) + "\n")


def _help_parts(
    usage: str, text: str | None, panels: Mapping[str, Sequence[tuple[str, str]]], width: int
) -> Iterator[Any]:
    from rich.text import Text

    summary, *rest = paragraphs(text)
    yield f"Usage: {usage}\n"
    yield Text(f"{summary}\n", "bold")
    for example in examples(text):
        yield Text(_continued(example, width), no_wrap=True, overflow="ignore")
    for paragraph in rest:
        if not paragraph.startswith(EXAMPLE):
            yield f"\n{paragraph}"
    for title, entries in panels.items():
        yield _panel(title, entries)


def _arguments(parameters: Sequence[Any]) -> Iterator[str]:
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            yield names_of(parameter) if parameter.required else f"[{names_of(parameter)}]"
    yield "[OPTIONS]"


def _continued(text: str, width: int) -> str:
    """Return a command in lines that a shell can read."""
    lines = textwrap.wrap(text, width - 6, break_long_words=False, break_on_hyphens=False)
    return " \\\n".join(f"  {'    ' if place else ''}{line}" for place, line in enumerate(lines))


def _panel(title: str, entries: Sequence[tuple[str, str]]) -> Any:
    from rich.panel import Panel
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    is_short = all(len(names) < SHORT_NAMES for names, _ in entries)
    width = SHORT_NAMES if is_short else NAMES_WIDTH
    grid.add_column(no_wrap=True, min_width=width, style="cyan")
    grid.add_column()
    for entry in entries:
        grid.add_row(*entry)
    return Panel(grid, title=title, title_align="left", border_style="dim")


def names_of(parameter: Any) -> str:
    """Return the names of a parameter and what its value is called; a flag has none."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join(sorted(parameter.opts, key=len))
    return names if parameter.is_flag else f"{names} {parameter.metavar or 'VALUE'}"


def description_of(parameter: Any) -> str:
    """Return the help text of a parameter, its default, and whether it is required."""
    words = [parameter.help or ""]
    if parameter.required and parameter.param_type_name == "option":
        words.append("(required)")
    if parameter.default is not None and parameter.default is not False:
        words.append(f"[default: {parameter.default}]")
    return " ".join(words)
