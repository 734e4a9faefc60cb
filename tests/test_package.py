"""The package as a newcomer meets it."""

import re
from pathlib import Path

import pytest

import decorrupt

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_there_and_documented():
    for name in decorrupt.__all__:
        assert getattr(decorrupt, name).__doc__, name


README_EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("example", README_EXAMPLES, ids=["bags", "sources"])
def test_the_readmes_examples_run(example, capsys):
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 — our own text
    assert "0." in capsys.readouterr().out
