"""The code blocks of a Markdown page, run in order as a reader would run them.

Blocks fenced as ```python are executed, ```pycon blocks are checked against the output that they
show, in which numbers may differ a little, and ```sh blocks run in bash. All of them share one
folder, the Python blocks one namespace.
Fences with a directive, such as ```{code-block} python, are only shown.
"""

import doctest
import re
from pathlib import Path

from helpers.shell import run_bash

BLOCK = re.compile(r"^```(python|pycon|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+")
TOLERANCE = 0.05  # of a number with decimals: a page shows the result of one machine


class NearNumbers(doctest.OutputChecker):
    """Compares the text exactly, and numbers with decimals up to the tolerance."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Return whether the output is that of the page."""
        if super().check_output(NUMBER.sub("#", want), NUMBER.sub("#", got), optionflags):
            shown, found = (list(map(float, NUMBER.findall(text))) for text in (want, got))
            pairs = zip(shown, found, strict=False)  # an ellipsis leaves out numbers
            return "..." in want or all(abs(a - b) <= TOLERANCE * max(1, abs(a)) for a, b in pairs)
        return False


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Return language, text and first line of every block that runs."""
    text = page.read_text()
    return [
        (found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in BLOCK.finditer(text)
    ]


def run_page(page: Path) -> None:
    """Run all blocks of a page in the current folder."""
    namespace: dict[str, object] = {"__name__": page.stem}
    for language, text, line in blocks(page):
        RUN[language](text, namespace, page, line)


def run_python(text, namespace, page, line):
    exec(compile("\n" * (line - 1) + text, str(page), "exec"), namespace)  # noqa: S102 — our text


def run_session(text, namespace, page, line):
    test = doctest.DocTestParser().get_doctest(text, namespace, page.name, str(page), line - 1)
    told: list[str] = []
    runner = doctest.DocTestRunner(NearNumbers(), optionflags=FLAGS)
    failed = runner.run(test, out=told.append, clear_globs=False)
    namespace.update(test.globs)
    assert not failed.failed, "".join(told)


def run_shell(text, namespace, page, line):
    done = run_bash("-euo", "pipefail", "-c", text, OMP_NUM_THREADS="1")
    assert done.returncode == 0, f"{page.name}, line {line}:\n{done.stderr}"


RUN = {"python": run_python, "pycon": run_session, "sh": run_shell}
