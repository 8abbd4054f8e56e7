"""Every way to predict rows and then learn them says what doing it row by row says.

A learner of each family, of this package and of others, is driven over the same rows by its own
`progressive`, by `evaluate.progressive`, by a race and from files: with labels at once and late,
with weights, and cut into parts anywhere. Answers and what is learned must be those of the loop in
`row_by_row`, which is the definition.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import pandas as pd
import pytest
from contract.support import as_dicts, classification, learned
from river import linear_model as river_linear
from river import naive_bayes, optim, tree
from scipy import sparse
from sklearn.linear_model import SGDClassifier, SGDRegressor

import yarrow
from yarrow import evaluate, experts, feedback, kernel
from yarrow.cli import main
from yarrow.compare import Entrant, race
from yarrow.datasets import Block

ROWS, COLUMNS = 90, 7
DELAYS = (0, 1, 6, 200)
X, CLASSES = classification(ROWS, COLUMNS, 3, seed=5)
X[0] = 1.0  # all features are known from the first row on, whichever way it comes
VALUES = (X @ np.arange(1.0, COLUMNS + 1)).round(3)
WEIGHTS = np.random.default_rng(1).integers(0, 3, ROWS).astype(float)
WEIGHTS[0] = 1.0
PROBES = as_dicts(classification(25, COLUMNS, 3, seed=6)[0])


@dataclasses.dataclass(frozen=True)
class Family:
    """A learner, and what can be asked of it."""

    make: Callable[[], Any]
    regression: bool = False
    two: bool = False  # two classes only
    by: str = "yarrow"  # or river, scikit-learn
    cli: tuple[Any, ...] = ()  # how the command line calls it
    #: predicts with sums of numpy, which may add in another order when there are more rows
    precise: float = 0.0
    weighs: bool = True

    @property
    def y(self) -> Any:
        """The labels of all rows."""
        return VALUES if self.regression else CLASSES == 0 if self.two else CLASSES


FAMILIES = {
    "core": Family(yarrow.AROWClassifier, cli=("arow",)),
    "core of two classes": Family(lambda: yarrow.AROWClassifier(classes=[False, True]), two=True),
    "core, top1": Family(
        lambda: yarrow.PassiveAggressiveClassifier(multiclass="top1"),
        cli=("pa", "--multiclass", "top1"),
    ),
    "core, hashed": Family(
        lambda: yarrow.AROWClassifier(hash_bits=3), cli=("arow", "--hash-bits", 3)
    ),
    "core, a regression": Family(yarrow.AROWRegressor, regression=True, cli=("arow-regressor",)),
    "YarrowClassifier": Family(yarrow.YarrowClassifier, cli=("yarrow",)),
    "kernel": Family(
        lambda: kernel.KernelPerceptron(budget=20), cli=("kernelperceptron", "--budget", 20)
    ),
    "composite": Family(experts.HedgeClassifier, cli=("hedge",)),
    "composite, a regression": Family(
        experts.HedgeRegressor, regression=True, cli=("hedge-regressor",), precise=1e-9
    ),
    "composite of others": Family(
        lambda: experts.FixedShareClassifier(
            [yarrow.AROWClassifier(), naive_bayes.BernoulliNB(), kernel.KernelPerceptron()]
        ),
        weighs=False,
    ),
    "wrapper": Family(feedback.SelectiveClassifier, cli=("selective",)),
    "river": Family(naive_bayes.GaussianNB, by="river", weighs=False),
    "river of two classes": Family(
        lambda: river_linear.LogisticRegression(optim.SGD(0.1)), two=True, by="river"
    ),
    "river, a tree": Family(
        lambda: tree.HoeffdingTreeClassifier(grace_period=10), by="river", weighs=False
    ),
    "river, a regression": Family(
        lambda: river_linear.LinearRegression(optim.SGD(0.01)), regression=True, by="river"
    ),
    # Rows that arrive together are learned in one call, which must not shuffle them.
    "scikit-learn": Family(lambda: SGDClassifier(shuffle=False), by="scikit-learn", precise=1e-9),
    "scikit-learn, a regression": Family(
        lambda: SGDRegressor(shuffle=False), regression=True, by="scikit-learn", precise=1e-9
    ),
}
OURS = [name for name, family in FAMILIES.items() if family.by == "yarrow"]
ON_THE_COMMAND_LINE = [name for name, family in FAMILIES.items() if family.cli]


# -- the definition --------------------------------------------------------------------------------


def row_by_row(
    family: Family, y: Any, w: Any = None, delay: int = 0, rows: Any = None, table: Any = X
) -> Any:
    """Predict a row, then learn the one `delay` rows before it: predictions and the model.

    Rows are dicts; those of scikit-learn are cut from an array or a matrix, which matters to some.
    """
    model, told, ready = family.make(), [], False
    dicts = as_dicts(X) if rows is None else rows
    for t in range(len(y) + delay):
        if t < len(y) and family.by == "scikit-learn":
            nothing = 0.0 if family.regression else None
            told.append(model.predict(table[t : t + 1])[0] if ready else nothing)
        elif t < len(y):
            said = model.predict_one(dicts[t])
            told.append(0.0 if said is None and family.regression else said)
        i = t - delay
        if not 0 <= i < len(y) or (w is not None and not w[i]):
            continue
        if family.by == "scikit-learn":
            more = {} if family.regression else {"classes": np.unique(y)}
            weight = {} if w is None else {"sample_weight": w[i : i + 1]}
            model.partial_fit(table[i : i + 1], y[i : i + 1], **more, **weight)
            ready = True
        else:
            more = {} if w is None else {"w": float(w[i])}
            model.learn_one(dicts[i], y[i].item(), **more)
    return told, model


def state(family: Family, model: Any) -> Any:
    """What a model has learned: to the bit where it can be seen, else what it says of rows."""
    if family.by == "scikit-learn":
        return model.coef_.tolist(), np.atleast_1d(model.intercept_).tolist()
    if hasattr(model, "_model"):
        return learned(model)
    said = [model.predict_one(x) for x in PROBES]
    sizes = [getattr(model, name, None) for name in ("t_", "n_updates_", "n_support_")]
    if family.by == "river" and not family.regression:
        said.append([model.predict_proba_one(x) for x in PROBES])
    return said, sizes


def assert_close(found: Any, expected: Any, precise: float) -> None:
    """The same, numbers as precisely as that."""
    if isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, precise)
    elif isinstance(expected, float) and precise:
        assert found == pytest.approx(expected, rel=precise, abs=precise)
    else:
        assert found == expected


def assert_same_state(family: Family, model: Any, other: Any) -> None:
    """To the bit, or as precisely as sums of numpy are."""
    assert_close(state(family, model), state(family, other), family.precise)


def assert_equal(family: Family, found: Any, expected: Any, model: Any, other: Any) -> None:
    """The same predictions, and the same learned."""
    assert_close(np.asarray(found).tolist(), np.asarray(expected).tolist(), family.precise)
    assert_same_state(family, model, other)


def parts(cuts: tuple[int, ...]) -> list[slice]:
    """The rows cut at some places."""
    return [slice(a, b) for a, b in zip((0, *cuts), (*cuts, ROWS), strict=True)]


CUTS = ((), (1,), (13, 14, 60))


# -- each driver -----------------------------------------------------------------------------------

FORMS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda rows: rows,
    "sparse": sparse.csr_matrix,
    "frame": lambda rows: pd.DataFrame(rows, columns=[f"c{j}" for j in range(COLUMNS)]),
}


def weights_of(family: Family, weighted: bool) -> Any:
    if weighted and not family.weighs:
        pytest.skip("it takes no weights")
    return WEIGHTS if weighted else None


def renamed(form: str) -> Any:
    names = [f"c{j}" for j in range(COLUMNS)] if form == "frame" else None
    return as_dicts(X, names)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", OURS)
def test_its_own_progressive_in_any_parts(name: str, weighted: bool, form: str) -> None:
    family = FAMILIES[name]
    w = weights_of(family, weighted)
    if form == "frame" and "--hash-bits" in family.cli:
        pytest.skip("names are hashed to other places than numbers")
    expected, other = row_by_row(family, family.y, w, rows=renamed(form))
    for cuts in CUTS:
        model, told = family.make(), []
        for part in parts(cuts):
            some = None if w is None else w[part]
            found = model.progressive(FORMS[form](X[part]), family.y[part], some)
            told += found.predictions.tolist()
        if form == "frame":  # probes and the other model go by number
            assert_close(told, np.asarray(expected).tolist(), 1e-6)
        else:
            assert_equal(family, told, expected, model, other)


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", OURS)
def test_its_own_progressive_with_late_labels(name: str, weighted: bool, delay: int) -> None:
    family = FAMILIES[name]
    w = weights_of(family, weighted)
    expected, other = row_by_row(family, family.y, w, delay)
    model = family.make()
    found = model.progressive(X, family.y, w, delay=delay)
    assert_equal(family, found.predictions, expected, model, other)


@pytest.mark.parametrize("form", [*FORMS, "dicts"])
@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_progressive_validation(name: str, weighted: bool, delay: int, form: str) -> None:
    family = FAMILIES[name]
    w = weights_of(family, weighted)
    if form == "frame" and family.by == "yarrow":
        pytest.skip("its own names: see the test of its own progressive")
    if form == "dicts" and family.by == "scikit-learn":
        pytest.skip("it takes no dicts")
    rows = as_dicts(X)
    if family.by == "river" and form != "sparse" and form != "dicts":
        names = [f"c{j}" for j in range(COLUMNS)] if form == "frame" else range(COLUMNS)
        rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]  # with zeros
    table = FORMS.get(form, FORMS["dense"])(X)
    expected, other = row_by_row(family, family.y, w, delay, rows, table)
    model = family.make()
    given = rows if form == "dicts" else FORMS[form](X)
    found = evaluate.progressive(model, given, family.y, sample_weight=w, delay=delay)
    if form == "frame" and family.by == "river":
        other = model  # it knows features by other names than probes have
    assert_equal(family, found.predictions, expected, model, other)
    wrong = [a != b for a, b in zip(found.predictions.tolist(), family.y.tolist(), strict=True)]
    if not family.regression:
        share = np.average(wrong, weights=w)
        assert found.metrics["error"].value == pytest.approx(share)
        assert found.curves["error"][-1] == (ROWS, pytest.approx(share))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_delay_by_time_is_one_by_rows(name: str) -> None:
    family = FAMILIES[name]
    for delay in (0, 6):
        expected, other = row_by_row(family, family.y, None, delay, as_dicts(X))
        model = family.make()
        given = X if family.by == "scikit-learn" else sparse.csr_matrix(X)
        found = evaluate.progressive(model, given, family.y, times=np.arange(ROWS), delay=delay + 1)
        assert_equal(family, found.predictions, expected, model, other)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("metrics", [["error"], ["roc_auc"], ["log_loss"]])
def test_what_is_asked_for_changes_no_prediction(name: str, metrics: list[str]) -> None:
    family = FAMILIES[name]
    methods = {"error": "predict", "roc_auc": "decision_function", "log_loss": "predict_proba"}
    if family.regression or family.by == "river":
        pytest.skip("it has no such scores of arrays")
    if not hasattr(family.make(), methods[metrics[0]]):
        pytest.skip("it has no such scores")
    y = family.y == family.y[0]
    if name == "core of two classes":
        y = family.y
    model = family.make()
    found = evaluate.progressive(model, X, y, delay=3, metrics=metrics)
    plain = family.make()
    assert_equal(
        family,
        found.predictions,
        evaluate.progressive(plain, X, y, delay=3).predictions,
        model,
        plain,
    )


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_race(name: str, weighted: bool, form: str) -> None:
    family = FAMILIES[name]
    w = weights_of(family, weighted)
    y = family.y.astype(np.int64) if family.two and family.by == "yarrow" else family.y
    if name == "core of two classes":
        family = dataclasses.replace(family, make=lambda: yarrow.AROWClassifier(classes=[0, 1]))
    table = sparse.csr_matrix(X) if form == "sparse" else X
    expected, other = row_by_row(family, y, w, table=table)
    counts = np.ones(ROWS, bool) if w is None else w > 0
    for cuts in CUTS:
        blocks = [
            Block(FORMS[form](X[part]), y[part], weights=None if w is None else w[part])
            for part in parts(cuts)
        ]
        outcome, *_ = race(
            blocks,
            [Entrant("it", family.make())],
            regression=family.regression,
            classes=None if family.regression else np.unique(y).tolist(),
        )
        assert outcome.failure is None
        told = [b for b, there in zip(expected, counts, strict=True) if there]
        truth = y[counts].tolist()
        if family.regression:
            losses = (np.array(told, float) - truth) ** 2
            assert outcome.wrong == pytest.approx(losses, rel=1e-9, abs=1e-12)
        else:
            assert outcome.wrong.tolist() == [a != b for a, b in zip(told, truth, strict=True)]
        if not (hasattr(other, "_model") and len(np.unique(y)) == 2):
            assert_same_state(family, outcome.model, other)


# -- files -----------------------------------------------------------------------------------------


def run(*args: Any) -> str:
    result = click.testing.CliRunner().invoke(main, [str(arg) for arg in args])
    if result.exception is not None:
        raise result.exception
    return result.stdout


def written(path: Path, y: Any, w: Any) -> Path:
    """Rows as svmlight text from index 0 on, or with weights as VW text with the same names."""
    with path.open("w") as file:
        for i, (row, label) in enumerate(zip(as_dicts(X), y.tolist(), strict=True)):
            if w is None:
                cells = " ".join(f"{j + 1}:{value!r}" for j, value in row.items())
                file.write(f"{label} {cells}\n")
            else:
                cells = " ".join(f"c{j}:{value!r}" for j, value in row.items())
                file.write(f"{label} {w[i]:g} | {cells}\n")
    return path


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ON_THE_COMMAND_LINE)
def test_files(
    name: str, weighted: bool, delay: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from yarrow.online import file_batches

    monkeypatch.setattr(file_batches, "BLOCK_BYTES", 500)
    family = FAMILIES[name]
    w = WEIGHTS if weighted else None
    rows = renamed("frame" if weighted else "dense")
    path = written(tmp_path / "rows", family.y, w)
    counts = np.ones(ROWS, bool) if w is None else w > 0  # a row of no weight is absent
    there = [x for x, is_there in zip(rows, counts, strict=True) if is_there]
    y = family.y[counts]
    told, other = row_by_row(family, y, None if w is None else w[counts], delay, there)
    learner, *settings = family.cli
    how = ["--format", "vw" if weighted else "svmlight", "--learner", learner, *settings]
    late = ["--delay", delay] if delay else []
    saved = tmp_path / "model"
    document = json.loads(
        run("evaluate", path, *how, *late, "--json", "--model", saved, "--metrics", "error"
            if not family.regression else "rmse")
    )  # fmt: skip
    assert document["rows"] == len(y)
    truth = y.tolist()
    if family.regression:
        rmse = np.sqrt(np.mean((np.array(told) - y) ** 2))
        assert document["rmse"] == pytest.approx(rmse, rel=1e-6)
        assert document["metrics"]["RMSE"] == pytest.approx(rmse, rel=1e-6)
    else:
        wrong = [a != b for a, b in zip(told, truth, strict=True)]
        assert document["error"] == np.mean(wrong)
        assert document["metrics"]["error"] == pytest.approx(np.mean(wrong))
        cells = {(a, b): n for a, b, n in document["confusion"]}
        pairs = list(zip(truth, told, strict=True))
        assert cells == {pair: pairs.count(pair) for pair in set(pairs)}
    for line in document["checkpoints"]:
        place = line["rows"] - 1
        assert line["label"] == truth[place]
        assert_close(line["prediction"], told[place], 1e-6)
        if "--hash-bits" not in how:  # where features that share a place may count once
            assert line["features"] == len(there[place])
        if not family.regression:
            assert line["error"] == pytest.approx(np.mean(wrong[: place + 1]))
    model = yarrow.load(saved)
    probes = as_dicts(classification(25, COLUMNS, 3, seed=6)[0],
                      [f"c{j}" for j in range(COLUMNS)] if weighted else None)  # fmt: skip
    if weighted:
        said = [model.predict_one(x) for x in probes]
        assert_close(said, [other.predict_one(x) for x in probes], 1e-9)
    else:
        assert_same_state(family, model, other)
    if not delay:  # training is the same without its account
        run("train", path, *how, "--model", tmp_path / "trained", "--quiet")
        trained = yarrow.load(tmp_path / "trained")
        assert_same_state(family, trained, model)
        lines = run("predict", tmp_path / "trained", path, "--quiet").split()
        said = [model.predict_one(x) for x in rows]
        assert list(map(float, lines)) == pytest.approx([float(s) for s in said], rel=1e-9)
