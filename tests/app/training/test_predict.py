import numpy as np
import pandas as pd
import pytest

from decorrupt.app.tables import TableError
from decorrupt.app.training.predict import Predictor


@pytest.fixture
def predictor(trained):
    return Predictor.of(trained.model, dict(trained.card), "m.skops")


def test_order_and_other_columns_do_not_matter(predictor, bag_table):
    plain = predictor.predict(bag_table.test)
    shuffled = bag_table.test.assign(other=1)[["town", "other", "noise", "income", "age"]]
    np.testing.assert_array_equal(plain.probabilities, predictor.predict(shuffled).probabilities)


def test_another_prior_moves_probabilities_as_the_model_does(predictor, trained, bag_table):
    from decorrupt.app.training.preprocess import prepare

    prepared = prepare(bag_table.test, predictor.columns)
    expected = trained.model.predict_proba(prepared, class_prior=0.1)
    found = predictor.predict(bag_table.test, class_prior=0.1)
    np.testing.assert_allclose(found.probabilities, expected)
    np.testing.assert_array_equal(found.chosen, expected[:, 1] > 0.5)
    with pytest.raises(ValueError, match="--class-prior 1 must lie strictly"):
        predictor.predict(bag_table.test, class_prior=1.0)


def test_the_answers_columns(predictor, bag_table):
    frame = bag_table.test.assign(id=np.arange(200))
    answer = predictor.table_of(frame, predictor.predict(frame), ["id"], proba=True)
    assert list(answer) == ["id", "prediction", "probability"]
    assert set(answer["prediction"]) == {0, 1}
    with pytest.raises(TableError, match=r"t\.csv: there is no column 'x'"):
        predictor.check_keep(frame, ["x"], "t.csv")
    with pytest.raises(TableError, match="'prediction' is the name of an output column"):
        predictor.check_keep(pd.DataFrame({"prediction": [1]}), ["prediction"], "t.csv")


def test_a_model_without_a_card_is_refused(trained):
    with pytest.raises(TableError, match=r"m\.skops: the model has no complete description"):
        Predictor.of(trained.model, {}, "m.skops")


@pytest.mark.parametrize(
    ("name", "value"), [("1", 1), ("-1", -1), ("007", "007"), ("²", "²"), ("--5", "--5")]
)
def test_classes_are_numbers_where_their_names_are(trained, name, value):
    card = {**trained.card, "class_shares": {"none": 0.5, name: 0.5}}
    assert Predictor.of(trained.model, card, "model").classes == ("none", value)
