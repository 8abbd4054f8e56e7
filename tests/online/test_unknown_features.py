"""Whoever asks a model about features that it has never met is told."""

from __future__ import annotations

import pickle
import warnings

import pandas as pd
import pytest

from yarrow import AROWClassifier, YarrowClassifier
from yarrow.errors import ReadingWarning, UnknownFeaturesWarning
from yarrow.io.formats import StreamFormat
from yarrow.online.driver import learn_files
from yarrow.online.prediction import predict_files

ROWS = [{"km": 1.0 + i % 7, "age": 30.0 + i % 5, "town": "Rome"} for i in range(60)]


@pytest.fixture(params=[AROWClassifier, YarrowClassifier])
def model(request):
    return request.param().partial_fit(pd.DataFrame(ROWS), [i % 7 > 3 for i in range(60)])


@pytest.fixture
def export(model, tmp_path):
    import yarrow

    model.export(tmp_path / "m.json")
    return yarrow.load(tmp_path / "m.json")


def predicted(model, path):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in predict_files(model, str(path)):
            pass
    return [str(one.message) for one in said if one.category is UnknownFeaturesWarning]


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("other.csv", "x,y\n1,2\n", "'x', 'y'"),
        ("semicolons.csv", "km;age\n1;2\n", "'km;age=1;2'"),
        ("rows.svm", "1 1:2 3:4\n", "0, 2"),
        ("rows.vw", "1 | x:2\n", "'x'"),
        ("more.vw", "1 | x:2 z\n2 | z x\n", "'x', 'z'"),
    ],
)
def test_files_of_strangers_are_told(model, export, name, text, shown, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    for one in (model, export):
        (sentence,) = predicted(one, path)
        assert sentence.startswith(f"{path}: no feature of the rows is known")
        assert f"they have {shown}, and it knows 'km', 'age', 'town=Rome'." in sentence


def test_one_known_feature_is_enough(model, export, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,km\n1,2\n3,4\n")
    assert predicted(model, path) == predicted(export, path) == []


def test_rows_in_python(model):
    with pytest.warns(
        UnknownFeaturesWarning, match="they have 'x', and it knows 'km', 'age', 'town=Rome'"
    ):
        model.predict([{"x": 1.0}, {"x": 2.0}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict([{"x": 1.0}, {"x": 2.0, "km": 1.0}])
        model.predict([{}, {}])


@pytest.mark.parametrize("wanted", ["predictions", "probabilities"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("other.csv", "label,x\nTrue,2\n"),
        ("rows.svm", "1 1:2 3:4\n"),
        ("rows.vw", "1 | x:2\n"),
    ],
)
def test_files_that_a_model_goes_on_with(model, name, text, wanted, tmp_path):
    """As `evaluate --resume` does."""
    path = tmp_path / name
    path.write_text(text)
    how = StreamFormat(table={"label": "label"} if name.endswith("csv") else {})
    with pytest.warns(UnknownFeaturesWarning, match="what it knows is of no use to them: they"):
        for _ in learn_files(model, [str(path)], how, wanted=wanted):
            pass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ReadingWarning)  # of columns that the model learned before
        for fresh in (AROWClassifier(), model):  # which knows nothing, or these by now
            for _ in learn_files(fresh, [str(path)], how, wanted=wanted):
                pass


def test_single_rows_once(model, export):
    for one in (model, export):
        with pytest.warns(UnknownFeaturesWarning, match="they have 'x', 'town=Oslo', and it knows"):
            one.predict_one({"x": 1.0, "town": "Oslo"})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.predict_one({"x": 1.0})
    again = pickle.loads(pickle.dumps(model))
    with pytest.warns(UnknownFeaturesWarning):
        again.predict_proba_one({"x": 1.0})


def test_single_rows_that_are_learned_as_they_come_are_no_reason_to_warn():
    model = AROWClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(20):
            model.predict_one({f"word {i}": 1.0})
            model.learn_one({f"word {i}": 1.0}, i % 2)
