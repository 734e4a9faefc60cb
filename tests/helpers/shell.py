"""Bash whose `decorrupt` commands run in this process, because importing takes longer than running.

The installed command in a process of its own is tested in tests/app/cli/test_end_to_end.py.
"""

import os
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

# A function of bash that sends its folder and arguments to one pipe, receives the exit code from
# another and shows what was printed.
COMMAND = """() {{
    printf '%q ' "$PWD" "$@" >&{asked}; echo >&{asked}
    local code; read -r code <&{answered}
    cat {folder}/out; cat {folder}/err >&2
    return "$code"
}}"""


def run_bash(*arguments, **environment):
    """Run bash with these arguments: its exit code and what it printed."""
    with TemporaryDirectory() as name, patch.dict(os.environ, environment):
        folder = Path(name)
        code = _serve(["/usr/bin/env", "bash", *map(str, arguments)], folder)
        printed = (folder / "stdout").read_text(), (folder / "stderr").read_text()
        return SimpleNamespace(returncode=code, stdout=printed[0], stderr=printed[1])


def _serve(program, folder):
    """Run the program and answer its commands until it ends; return its exit code."""
    (read_asked, asked), (answered, write_answer) = os.pipe(), os.pipe()
    function = COMMAND.format(asked=asked, answered=answered, folder=shlex.quote(str(folder)))
    # `python` is this one, as in an environment that is activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        process = subprocess.Popen(  # noqa: S603 — our own text
            program,
            stdout=out,
            stderr=err,
            pass_fds=(asked, answered),
            env=os.environ | {"BASH_FUNC_decorrupt%%": function, "PATH": path},
        )
    os.close(asked)
    os.close(answered)
    with open(read_asked) as requests, open(write_answer, "w") as answers:
        for line in requests:
            print(_answer(*shlex.split(line), outputs=folder), file=answers, flush=True)
    return process.wait()


def _answer(folder, *arguments, outputs):
    from decorrupt.app.cli.app import run

    with (
        open(outputs / "out", "w") as out,
        open(outputs / "err", "w") as err,
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        return run(arguments)
