"""A linear model keeps its probabilities in ONNX, as docs/howto/export_and_serve.md promises."""

from pathlib import Path

import numpy as np
import pytest

from helpers.page_code import blocks, run_python

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "export_and_serve.md"


def test_a_linear_model_keeps_its_probabilities_in_onnx(tmp_path, monkeypatch):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for language, text, line in blocks(PAGE):
        if language == "python":
            run_python(text, names, PAGE, line)
    rows = names["data"].X_test.astype(np.float32)
    converted = skl2onnx.to_onnx(names["plain"], rows[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    _, probabilities = session.run(None, {"X": rows})
    np.testing.assert_allclose(probabilities, names["model"].predict_proba(rows), atol=1e-5)
