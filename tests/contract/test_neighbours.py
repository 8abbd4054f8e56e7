"""What scikit-learn, its neighbours and notebooks expect beyond the checks of an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import skops.io
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

import yarrow
from yarrow import decomposition, evaluate, feature_selection, features
from yarrow.compare import compare
from yarrow.errors import DataError, ParameterError, YarrowError
from yarrow.experts import HedgeClassifier
from yarrow.kernel import KernelPerceptron

X = np.random.default_rng(5).normal(size=(120, 4))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
NAMES = ["a", "b", "c", "d"]
FRAME = pd.DataFrame(X, columns=NAMES, index=np.arange(1000, 1120))
LEARNERS = [
    yarrow.AROWClassifier(),
    yarrow.YarrowClassifier(),
    yarrow.OGDRegressor(),
    KernelPerceptron(),
    HedgeClassifier([yarrow.AROWClassifier(), yarrow.Perceptron()]),
]


def named(model: Any) -> str:
    return type(model).__name__


@pytest.mark.parametrize("model", LEARNERS, ids=named)
def test_weights_reach_a_learner_through_cross_validation(model: Any) -> None:
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        clone(model).set_fit_request(sample_weight=True)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = (
            clone(model)
            .set_fit_request(sample_weight=True)
            .set_partial_fit_request(sample_weight=True)
        )
        asking.set_score_request(sample_weight=False)
        assert clone(asking).get_metadata_routing().fit.requests["sample_weight"] is True
        found = cross_validate(
            asking, X, Y, cv=3, params={"sample_weight": weights}, return_estimator=True
        )
        for one in found["estimator"]:
            if hasattr(one, "t_"):  # rows of weight 0 are absent
                assert one.t_ < 0.75 * len(X) * one.n_iter_
        with pytest.raises(TypeError, match="fit takes no groups"):
            asking.set_fit_request(groups=True)
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(Exception, match="not"),
    ):
        cross_validate(clone(model), X, Y, params={"sample_weight": weights})


TRANSFORMERS = [
    features.OnlineStandardScaler(),
    features.OnlineMinMaxScaler(),
    features.OnlineMaxAbsScaler(),
    features.OnlineIDF(),
    features.RowNormalizer(),
    feature_selection.InformationGain(k=2),
    decomposition.OnlinePCA(2),
    decomposition.OnlineSVD(2),
]


@pytest.mark.parametrize("model", TRANSFORMERS, ids=named)
def test_transformers_answer_with_the_frame_that_is_wanted(model: Any) -> None:
    plain = clone(model).fit(FRAME, Y)
    expected = plain.transform(FRAME)
    in_pandas = clone(clone(model).set_output(transform="pandas")).fit(FRAME, Y).transform(FRAME)
    assert isinstance(in_pandas, pd.DataFrame)
    assert in_pandas.index.equals(FRAME.index)
    assert in_pandas.columns.tolist() == plain.get_feature_names_out().tolist()
    np.testing.assert_array_equal(in_pandas.to_numpy(), expected)
    with sklearn.config_context(transform_output="polars"):
        in_polars = plain.transform(FRAME)
    assert isinstance(in_polars, pl.DataFrame)
    np.testing.assert_array_equal(in_polars.to_numpy(), expected)
    step = make_pipeline(clone(model), yarrow.AROWClassifier()).set_output(transform="pandas")
    step.fit(FRAME, Y)
    assert step[-1].feature_names_in_.tolist() == in_pandas.columns.tolist()
    with pytest.raises(ParameterError, match="'default', 'pandas' or 'polars'"):
        clone(model).set_output(transform="excel")


def test_no_frame_is_made_of_words() -> None:
    words = features.TextFeatures().set_output(transform="pandas")
    with pytest.raises(DataError, match="sparse matrix, of which no frame is made"):
        words.fit_transform(["buy now"])


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_many_rows_come_back_in_the_frame_they_came_in(form: Any) -> None:
    given = form({name: X[:, j] for j, name in enumerate(NAMES)})
    scaler = features.OnlineStandardScaler()
    scaler.learn_many(given)
    found = scaler.transform_many(given)
    assert type(found) is form
    rows = [scaler.transform_one(dict(zip(NAMES, x, strict=True))) for x in X.tolist()]
    assert [list(row.values()) for row in rows] == np.asarray(found).tolist()
    chosen = feature_selection.InformationGain(k=1)
    chosen.learn_many(given, Y)
    assert list(chosen.transform_many(given).columns) == ["a"]


@pytest.mark.parametrize("model", [*LEARNERS, *TRANSFORMERS[:5]], ids=named)
def test_skops_keeps_what_was_learned(model: Any) -> None:
    model = clone(model).fit(FRAME, Y)
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("yarrow.") for name in types)
    again = skops.io.loads(data, trusted=types)
    ask = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(again, ask)(FRAME), getattr(model, ask)(FRAME))
    if hasattr(again, "partial_fit"):
        again.partial_fit(FRAME, Y)


def test_notebooks_show_parameters_and_what_was_learned() -> None:
    model = yarrow.AROWClassifier(r=0.25, classes=["<a>", "b"])
    assert "nothing yet" in model._repr_html_()
    model.partial_fit(FRAME, np.where(Y, "b", "<a>"))
    page = model._repr_html_()
    assert "<td>r</td><td>0.25</td>" in page
    assert "<td>t_</td><td>120</td>" in page
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    page = model.explain_one({"a": 1.0, "b": 2.0})._repr_html_()
    assert "<td>a</td><td>1</td>" in page
    assert "score +" in page or "score -" in page
    page = evaluate.progressive(yarrow.AROWClassifier(), X, Y)._repr_html_()
    assert "<td>rows</td><td>120</td>" in page
    assert "AROWClassifier()" in page


def test_arrays_and_frames_are_compared() -> None:
    table = FRAME.assign(kind=np.where(X[:, 2] > 0, "x", "y"))
    found = compare(table, y=Y, learners="arow,perceptron")
    assert found.data["features"] == 6
    assert found.data["rows"] == 120
    assert "AROWClassifier" in found._repr_html_()
    assert compare(X, Y.astype(str), threads=1).data["classes"] == ["0", "1"]
    values = compare(pl.from_pandas(FRAME), y=X[:, 1], learners="pa-regressor")
    assert values.data["task"] == "regression"
    with pytest.raises(YarrowError, match=r"inconsistent numbers of samples: \[120, 3\]"):
        compare(X, [1, 2, 3])
    some = compare(X, ["arow", "perceptron"], y=Y)
    assert {o.learner for o in some.outcomes} >= {"AROWClassifier", "Perceptron"}
    texts = np.where(Y > 0, "arow", "perceptron").tolist()  # labels, though they look like names
    assert compare(X, texts).data["classes"] == ["arow", "perceptron"]
    with pytest.raises(YarrowError, match=r"need their labels: compare\(X, y\)"):
        compare(X)
    with pytest.raises(YarrowError, match="arow: there is no such file with a grid; 'learners'"):
        compare(X, Y, "arow")
