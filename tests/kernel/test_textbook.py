"""On a budget, too, two classes are the textbook's binary algorithm, on real rows.

`many` is one against the rest with a shared list.
"""

from __future__ import annotations

import functools
import math
import os

import numpy as np
import pytest
from contract.support import classification
from kernel.textbook import FORMS

from yarrow import kernel
from yarrow.datasets import load

needs_data = pytest.mark.skipif("YARROW_DATA" not in os.environ, reason="YARROW_DATA is not set")
SETS = [
    "blobs",
    pytest.param("usps", marks=needs_data),
    pytest.param("sonar", marks=needs_data),
]
BUDGETS = [1, 10, 60, 10_000, None]


def blobs(n):
    X, y = classification(n, 10, 3, seed=8)
    return X + 0.0, y  # no zero is negative


@functools.cache
def rows_of(name):
    """Return rows, their labels -1 or 1, and a width of the kernel."""
    if name == "blobs":
        X, y = blobs(200)
        return X, np.where(y == 2, 1, -1), 0.05
    data = load(name)
    if name == "sonar":
        X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
        return X.astype(float), np.where(data.y == np.unique(data.y)[1], 1, -1), 0.5
    chosen = np.flatnonzero(np.isin(data.y, [3, 5]))[:400]
    return data.X[chosen].toarray().astype(float), np.where(data.y[chosen] == 5, 1, -1), 0.01


def gram(X, gamma):
    squares = (X**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))


def kept_by(model, X):
    """Return the numbers of the rows kept, the oldest first, and their places."""
    numbers = {row.tobytes(): i for i, row in enumerate(X)}
    assert len(numbers) == len(X), "each row is another"
    table = np.zeros((model.n_support_, X.shape[1]))
    for line, row in zip(table, model.support_vectors_, strict=True):
        line[list(row)] = list(row.values())
    found = [numbers[line.tobytes()] for line in table]
    return sorted(found), np.argsort(found)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", SETS)
def test_two_classes_are_the_textbook(data, form, budget):
    X, y, gamma = rows_of(data)
    if form == "arow":  # its matrices are slow
        X, y = X[:120], y[:120]
    name, settings, textbook = FORMS[form]
    intercept = form != "forgetron"
    K = gram(X, gamma) + intercept
    expected = textbook(K, y, budget)
    for classes in (None, [-1, 1]):
        model = getattr(kernel, name)(
            gamma=gamma, budget=budget, classes=classes, fit_intercept=intercept, **settings
        )
        model.partial_fit(X, y)
        numbers, order = kept_by(model, X)
        assert numbers == sorted(j for j in expected.kept if expected.a[j])
        scale = math.sqrt(0.5) if form == "forgetron" else 1.0  # half for each of both classes
        for sign, line in zip((-1, 1), model.dual_coef_, strict=True):
            np.testing.assert_allclose(
                line[order], sign * scale * expected.a[numbers], rtol=1e-6, atol=1e-9
            )
        assert model.n_updates_ == expected.updates
        if form != "forgetron":
            assert model.n_mistakes_ == expected.errors


# -- many classes --------------------------------------------------------------------------------


def digits():
    """Return rows of ten classes; the first ten rows are one of each."""
    data = load("usps")
    X, y = data.X[:700].toarray().astype(float), data.y[:700]
    first = np.unique(y, return_index=True)[1]
    order = [*first, *np.setdiff1d(np.arange(len(y)), first)]
    return X[order], y[order]


def many(rule, K, y, budget):
    """One against the rest: a function a class, one list of rows."""
    a, kept, updates, errors = np.zeros((10, len(y))), [], 0, 0
    for i, label in enumerate(y):
        scores = a[:, kept] @ K[kept, i]
        errors += i < 10 or np.argmax(scores) != label
        signs = np.where(np.arange(10) == label, 1, -1)
        told = [
            rule(sign * score, K[i, i], i + 1) for sign, score in zip(signs, scores, strict=True)
        ]
        a *= np.array([[one[0]] for one in told])
        if any(one[1] for one in told):
            updates += 1
            kept.append(i)
            a[:, i] = signs * [one[1] for one in told]
            if len(kept) > budget:
                a[:, kept.pop(0)] = 0
    return kept, a[:, kept], updates, errors


@needs_data
@pytest.mark.parametrize("budget", [15, 100, 10_000])
@pytest.mark.parametrize("form", ["perceptron", "pa", "pa1", "pa2", "regularized", "mistakes"])
def test_many_classes_are_a_textbook_column_each(form, budget):
    X, y = digits()
    name, settings, textbook = FORMS[form]
    kept, a, updates, errors = many(*textbook.args, gram(X, 0.01) + 1, y, budget)
    model = getattr(kernel, name)(gamma=0.01, budget=budget, **settings).partial_fit(X, y)
    numbers, order = kept_by(model, X)
    assert numbers == kept
    np.testing.assert_allclose(model.dual_coef_[:, order], a, rtol=1e-6, atol=1e-9)
    assert (model.n_updates_, model.n_mistakes_) == (updates, errors)


@needs_data
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("random", "forgetron")])
def test_without_a_budget_each_class_is_a_textbook_function_of_its_own(form):
    """Whenever the class has come."""
    data = load("usps")
    X, y = data.X[:150].toarray().astype(float), data.y[:150]
    name, settings, textbook = FORMS[form]
    model = getattr(kernel, name)(gamma=0.01, **settings).partial_fit(X, y)
    numbers, order = kept_by(model, X)
    K = gram(X, 0.01) + 1
    own = np.array([textbook(K, np.where(y == label, 1, -1), None).a for label in model.classes_])
    assert numbers == np.flatnonzero(own.any(axis=0)).tolist()
    np.testing.assert_allclose(model.dual_coef_[:, order], own[:, numbers], rtol=1e-6, atol=1e-9)


@needs_data
@pytest.mark.parametrize("budget", [10, 60])
@pytest.mark.parametrize("form", FORMS)
def test_no_row_is_kept_that_no_class_wants(form, budget):
    data = load("usps")
    name, settings, _ = FORMS[form]
    model = getattr(kernel, name)(gamma=0.01, budget=budget, **settings)
    for begin in range(0, 500, 100):
        part = slice(begin, begin + 100)
        model.partial_fit(data.X[part], data.y[part])
        state = model._fitted
        learned = state.signs if form == "duol" else state.coefficients  # a pair may end at 0
        assert learned[:, :-1].any(axis=1).all()
        assert form == "duol" or model.n_support_ == len(state.supports)


def third_class_last():
    X, y = blobs(600)
    order = np.argsort(y == 2, kind="stable")
    X, y = X[order], y[order]
    return X, y, gram(X, 0.05) + 1, (y < 2).sum()


def pa_steps(signs, scores, square):
    return signs * np.minimum(0.3, np.maximum(0, 1 - signs * scores) / square)


@pytest.mark.parametrize("budget", [20, 10_000])
def test_on_a_budget_a_late_class_has_learned_from_the_rows_kept_for_others(budget):
    """It starts as one that took these rows, and no others, as negative."""
    X, y, K, _ = third_class_last()
    names, a, kept = [], np.zeros((4, len(y))), []  # the last function is that of a class to come
    alone = 0
    for i, label in enumerate(y):
        if label not in names:
            a[len(names)] = a[3]
            names.append(int(label))
        signs = np.full(4, -1)
        signs[names.index(label)] = 1
        steps = pa_steps(signs, a[:, kept] @ K[kept, i], K[i, i])
        steps[len(names) : 3] = 0
        if not steps[:3].any():
            alone += steps[3] != 0
            continue
        kept.append(i)
        a[:, i] = steps
        if len(kept) > budget:
            a[:, kept.pop(0)] = 0
    assert alone, "some row would have been kept for a class to come alone"
    model = kernel.KernelPassiveAggressiveClassifier(gamma=0.05, C=0.3, budget=budget)
    numbers, order = kept_by(model.partial_fit(X, y), X)
    assert numbers == kept
    places = [names.index(c) for c in sorted(names)]
    np.testing.assert_allclose(model.dual_coef_[:, order], a[places][:, kept], atol=1e-9)


def test_without_a_budget_a_late_class_is_as_if_known_from_the_beginning():
    X, y, K, late = third_class_last()
    a = np.zeros((3, len(y)))
    for i, label in enumerate(y):
        signs = np.where(np.arange(3) == label, 1, -1)
        a[:, i] = pa_steps(signs, a @ K[i], K[i, i])

    def early(**settings):
        model = kernel.KernelPassiveAggressiveClassifier(gamma=0.05, C=0.3, **settings)
        return model.partial_fit(X[:late], y[:late])

    model, declared = early(), early(classes=[0, 1])
    assert model.n_support_ < len(model._fitted.supports), "rows wait for a class to come"
    assert declared.n_support_ == len(declared._fitted.supports), "none is to come"
    assert declared.support_vectors_ == model.support_vectors_
    assert declared.n_updates_ == model.n_updates_
    model.partial_fit(X[late:], y[late:])
    assert model.n_support_ == a.any(axis=0).sum()
    np.testing.assert_allclose(model.decision_function(X), (a @ K).T, atol=1e-9)
