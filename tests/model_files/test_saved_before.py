"""Model files saved before classes were renamed and parameters added still load and predict."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from decorrupt.model_files import load_with_metadata

FILES = sorted((Path(__file__).parent / "saved_before").glob("*.skops"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_an_older_file_gives_the_predictions_it_was_saved_with(file):
    model, card = load_with_metadata(file)
    rows = np.array(card["rows"])
    np.testing.assert_allclose(model.decision_function(rows), card["decisions"], atol=1e-9)
    if "probabilities" in card:
        np.testing.assert_allclose(
            model.predict_proba(rows)[:, 1], card["probabilities"], atol=1e-9
        )
    clone(model)  # parameters that the file does not have take their defaults


def test_there_are_older_files():
    assert len(FILES) == 5
