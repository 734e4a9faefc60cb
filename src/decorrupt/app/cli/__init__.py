"""The command line: parse, call, exit code; no logic."""

import sys


def main() -> None:
    """Run the command line of this process, or report which package is missing."""
    try:
        from decorrupt.app.cli.app import main as run_commands
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("decorrupt"):
            raise
        sys.exit(f"error: the command line needs {missing.name}: pip install 'decorrupt[cli]'")
    run_commands()
