"""The second-order Perceptron against the paper's matrices, with the row inside."""

import numpy as np
import pytest
from linear_model.oracles import EXACT, binary_stream, with_constant

from yarrow.linear_model import Perceptron, SOPClassifier


def paper(rows, y, a, diagonal):
    """Predicted signs of (a*I + S S' + x x')^-1 v, S and v made of the mistakes."""
    A, v, margins = a * np.eye(rows.shape[1]), np.zeros(rows.shape[1]), []
    for x, label in zip(rows, y, strict=True):
        inside = A + np.outer(x, x)
        margins.append(v @ np.linalg.solve(np.diag(np.diag(inside)) if diagonal else inside, x))
        if label * margins[-1] <= 0:
            A, v = inside, v + label * x
    return np.array(margins)


def margins_before_learning(model, X, y):
    found = []
    for x, label in zip(X, y, strict=True):
        found.append(model.decision_function([x])[0] if len(found) > 1 else 0.0)
        model.partial_fit([x], [label])
    return np.array(found)


@pytest.mark.parametrize("a", [0.1, 1.0, 30.0])
def test_diagonal_form_predicts_with_the_row_inside(a):
    X, y = binary_stream(21, rows=200, density=0.6)
    found = margins_before_learning(SOPClassifier(a, **EXACT), X, y)
    expected = paper(with_constant(X), y, a, diagonal=True)
    np.testing.assert_allclose(found[2:], expected[2:], rtol=1e-10, atol=1e-12)


def test_full_form_on_rows_with_one_feature():
    """There the full matrix is diagonal, so the paper's own formula must come out."""
    random = np.random.default_rng(22)
    X = np.eye(5)[random.integers(5, size=150)] * random.normal(size=(150, 1))
    y = np.where(random.random(150) < 0.3, 1, -1)
    y[:2] = -1, 1
    found = margins_before_learning(SOPClassifier(0.5, fit_intercept=False, **EXACT), X, y)
    expected = paper(X, y, 0.5, diagonal=False)
    np.testing.assert_allclose(found[2:], expected[2:], rtol=1e-10, atol=1e-12)


def test_large_a_gives_the_perceptron():
    X, y = binary_stream(23, rows=300)
    sop = SOPClassifier(1e12, **EXACT).partial_fit(X, y)
    perceptron = Perceptron(**EXACT).partial_fit(X, y)
    assert sop.n_updates_ == perceptron.n_updates_
    assert sop.n_mistakes_ == perceptron.n_mistakes_
    margins = perceptron.decision_function(X)
    np.testing.assert_allclose(1e12 * sop.decision_function(X), margins, rtol=1e-8)


def test_worked_by_hand():
    """a = 1 and no intercept; the row asked about counts in the matrix, here a diagonal."""
    model = SOPClassifier(1.0, fit_intercept=False, classes=["no", "yes"], **EXACT)
    for label in ("no", "yes"):
        model.learn_one({}, label)

    def score(x):
        return model._model.score_one(x)[0][1]

    model.learn_one({"x": 1.0, "y": 2.0}, "yes")  # 0: a mistake. sums (1, 2), matrix (2, 5)
    assert score({"x": 1.0}) == pytest.approx(1 / 3)
    model.learn_one({"x": 2.0, "y": -0.5}, "no")  # 2/6 - 1/5.25 > 0: a mistake. sums (-1, 2.5)
    assert score({"x": 1.0, "y": 1.0}) == pytest.approx(-1 / 7 + 2.5 / 6.25)
    model.learn_one({"x": 1.0, "y": 1.0}, "yes")  # 9/35 > 0: right, so nothing changes
    assert score({"x": 2.0}) == pytest.approx(-2 / 10)
    assert model.n_updates_ == 2


def test_a_weight_counts_a_row_that_often():
    """A row of weight 2 is one mistake that enters both sums twice."""
    one = SOPClassifier(fit_intercept=False, classes=[0, 1], **EXACT)
    one.learn_one({"x": 3.0}, 1, w=2.0)
    # sum = 2*3, A = 1 + 2*9, and the row asked about (2) joins: 2*6/(19 + 4)
    assert one._model.score_one({"x": 2.0})[0] == pytest.approx([12 / 23])
