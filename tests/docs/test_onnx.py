"""Linear models and forests keep their probabilities in ONNX, as export_and_serve.md promises."""

import re
from pathlib import Path

import numpy as np
import pytest

from helpers.page_code import blocks, run_python

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "export_and_serve.md"
FLAGS = re.DOTALL | re.MULTILINE
pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the names that the code of the page defines."""
    names = {"__name__": "page"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for language, text, line in blocks(PAGE):
            if language == "python":
                run_python(text, names, PAGE, line)
    return names


@pytest.mark.parametrize(
    ("converted", "own", "limit"), [("plain", "model", 0.0), ("plain_forest", "forest", 0.001)]
)
def test_probabilities_in_onnx_are_those_of_the_model(
    page, converted, own, limit, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rows = page["data"].X_test.astype(np.float32)
    (conversion,) = re.findall(r"^```{code-block} python\n(.*?)^```$", PAGE.read_text(), FLAGS)
    names = page | {"plain": page[converted]}
    run_python(conversion, names, PAGE, 1)
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    _, probabilities = session.run(None, {"X": rows})
    expected = page[own].predict_proba(rows)
    np.testing.assert_allclose(probabilities.clip(limit, 1 - limit), expected, atol=1e-5)
