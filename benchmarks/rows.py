"""The rows that users have: every type, order and layout, learned and predicted, with the bars.

What one thread does is counted in its processor time, so that other work on the machine changes
little; what two do, by the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import data, handwritten, ours, peers
from benchmarks.measure import (
    Bar,
    Best,
    Comparison,
    process,
    processor_time,
    race,
    speed,
    table,
    timed_processes,
)

ROWS = 50_000
SHUFFLED, IN_ORDER = "scikit-learn", "scikit-learn, shuffle=False"


def rows() -> list[Comparison]:
    """Arrays, frames and dicts."""
    import sklearn.linear_model  # noqa: F401  # only libraries that are loaded can be told
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    X, y = data.RCV1Like().matrix(ROWS)
    sets = {"ascending": X, "in no order": _in_no_order(X)}
    wide = {name: _as(matrix, "f8", "i4") for name, matrix in sets.items()}
    return [
        *(_predict(name, matrix, X, y) for name, matrix in wide.items()),
        _predict("ascending", X, X, y, "float32"),
        *(_probabilities(name, matrix, y) for name, matrix in wide.items()),
        *(_learn(name, matrix, y) for name, matrix in wide.items()),
        _same_learner("int64 indices", y, {"int32": X, "int64": _as(X, "f4", "i8")}, 1.25),
        _labels(X, y),
        _mixture(X, wide, y),
        _two_threads(X, y),
        *_dense(),
        _one_row(),
        _whole_table(X),
    ]


def _in_no_order(X: Any) -> Any:
    """Each row's values shuffled, as `fit_transform` of a vectorizer leaves them."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((np.random.default_rng(0).random(X.nnz), row))
    return sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def _as(X: Any, value: str, index: str) -> Any:
    arrays = X.data.astype(value), X.indices.astype(index), X.indptr.astype(index)
    return sparse.csr_array(arrays, shape=X.shape)


def _compared(
    title: str,
    runs: dict[str, Callable[[], Any]],
    values: int,
    bars: Callable[[Best], list[Bar]],
    unit: str = "ns/value",
) -> Comparison:
    contenders = {name: processor_time(run) for name, run in runs.items()}
    return Comparison(title, contenders, unit, 1e9 / values, bars)


def _time_of(best: Best, our: str, other: str, at_most: float) -> Bar:
    return Bar(f"{our}: time of {other}", best[our] / best[other], at_most=at_most)


def _predict(name: str, X: Any, known: Any, y: np.ndarray, value: str = "float64") -> Comparison:
    our, peer = ours.pa1(known, y), peers.sklearn_pa1(X, y)
    weights = ours.weights(our).astype(np.float32)
    runs = {
        "Yarrow predict": lambda: our.predict(X),
        "Yarrow decision_function": lambda: our.decision_function(X),
        "scikit-learn predict": lambda: peer.predict(X),
        "scikit-learn decision_function": lambda: peer.decision_function(X),
    }
    if value == "float64":
        runs["hand-written product"] = lambda: handwritten.product(X, weights)
    asked = 0.8 if name == "in no order" else 1.2

    def bars(best: Best) -> list[Bar]:
        calls = ("predict", "decision_function")
        found = [speed(best, f"Yarrow {c}", f"scikit-learn {c}", asked) for c in calls]
        if value == "float64" and name == "ascending":
            found.append(_time_of(best, "Yarrow decision_function", "hand-written product", 1.25))
        return found

    return _compared(f"Predicting, CSR {value}, {name}", runs, X.nnz, bars)


def _probabilities(name: str, X: Any, y: np.ndarray) -> Comparison:
    our, peer = ours.arow(X, y), peers.sklearn_logistic(X, y)
    runs = {
        "Yarrow AROW": lambda: our.predict_proba(X),
        "scikit-learn logistic SGD": lambda: peer.predict_proba(X),
    }
    asked = 1.0 if name == "ascending" else None

    def bars(best: Best) -> list[Bar]:
        return [speed(best, *runs, asked)]

    return _compared(f"`predict_proba`, CSR float64, {name}", runs, X.nnz, bars)


def _learn(name: str, X: Any, y: np.ndarray) -> Comparison:
    runs = {
        "Yarrow PA-I": lambda: ours.pa1(X, y),
        "Yarrow AROW": lambda: ours.arow(X, y),
        SHUFFLED: lambda: peers.sklearn_pa1(X, y),
        IN_ORDER: lambda: peers.sklearn_pa1(X, y, shuffle=False),
    }
    asked: dict[str, tuple[float | None, float | None]] = {
        "Yarrow PA-I": (1.4, 3) if name == "ascending" else (1.2, 2.5),
        "Yarrow AROW": (None, None) if name == "ascending" else (0.9, 1.9),
    }

    def bars(best: Best) -> list[Bar]:
        return [
            speed(best, our, peer, bound)
            for our, bounds in asked.items()
            for peer, bound in zip((IN_ORDER, SHUFFLED), bounds, strict=True)
        ]

    return _compared(f"`partial_fit`, CSR float64, {name}", runs, X.nnz, bars)


def _same_learner(title: str, y: np.ndarray, forms: dict[str, Any], at_most: float) -> Comparison:
    """PA-I on the same rows in two forms: how much longer the second takes."""
    runs = {}
    for name, X in forms.items():
        model = ours.pa1(X, y)
        runs[f"Yarrow partial_fit, {name}"] = lambda X=X: ours.pa1(X, y)
        runs[f"Yarrow predict, {name}"] = lambda X=X, model=model: model.predict(X)
    first, second = forms

    def bars(best: Best) -> list[Bar]:
        return [
            _time_of(best, f"Yarrow {call}, {second}", f"Yarrow {call}, {first}", at_most)
            for call in ("partial_fit", "predict")
        ]

    return _compared(title, runs, forms[first].nnz, bars)


def _labels(X: Any, y: np.ndarray) -> Comparison:
    names = np.array(["no", "yes"])[(y > 0).astype(int)]
    forms = {"integers": y, "NumPy's texts": names, "objects": names.astype(object)}
    runs = {
        f"Yarrow PA-I, {name}": lambda labels=labels: ours.one_pass(
            "PassiveAggressiveClassifier", X, labels, declared=False
        )
        for name, labels in forms.items()
    }

    def bars(best: Best) -> list[Bar]:
        first, *others = runs
        return [_time_of(best, other, first, 1.2) for other in others]

    return _compared("Labels", runs, X.nnz, bars)


def _mixture(X: Any, wide: dict[str, Any], y: np.ndarray) -> Comparison:
    forms = {"float32": X} | {f"float64 {name}": matrix for name, matrix in wide.items()}
    runs = {
        f"YarrowClassifier, {name}": lambda X=X: ours.one_pass("YarrowClassifier", X, y, True)
        for name, X in forms.items()
    }

    def bars(best: Best) -> list[Bar]:
        first, *others = runs
        return [_time_of(best, other, first, 1.25) for other in others]

    return _compared("The learner without settings", runs, X.nnz, bars)


def _two_threads(X: Any, y: np.ndarray) -> Comparison:
    """By the clock, so it needs two idle cores."""
    one, two = ours.arow(X, y), ours.arow(X, y).set_params(n_jobs=2)
    runs = {
        f"Yarrow {call}, {name}": lambda model=model, call=call: getattr(model, call)(X)
        for call in ("predict", "predict_proba")
        for name, model in (("one thread", one), ("two", two))
    }

    def bars(best: Best) -> list[Bar]:
        calls = ("predict", "predict_proba")
        return [speed(best, f"Yarrow {c}, two", f"Yarrow {c}, one thread", 1.5) for c in calls]

    title = "Two threads (`n_jobs=2`), AROW, CSR float32, by the clock"
    return Comparison(title, runs, "ns/value", 1e9 / X.nnz, bars)


def _table_rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 100))
    signal, noise = X @ random.normal(size=100), random.normal(size=len(X))
    return X, np.where(signal + noise > 0, 1, -1)


def _dense() -> list[Comparison]:
    import pandas as pd

    X, y = _table_rows()
    frame = pd.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})
    forms = {"float64": X, "float32": X.astype("f4"), "DataFrame": frame}
    found = []
    for name, given in forms.items():
        runs = {
            "Yarrow PA-I": lambda given=given: ours.pa1(given, y),
            SHUFFLED: lambda given=given: peers.sklearn_pa1(given, y),
            IN_ORDER: lambda given=given: peers.sklearn_pa1(given, y, shuffle=False),
        }

        def bars(best: Best) -> list[Bar]:
            return [speed(best, "Yarrow PA-I", SHUFFLED, 3), speed(best, "Yarrow PA-I", IN_ORDER)]

        found.append(_compared(f"Dense, 20,000 x 100, {name}", runs, X.size, bars))
    many = {"Yarrow PA-I learn_many": lambda: ours.learn_many(frame, pd.Series(y))}

    def a_value(best: Best) -> list[Bar]:
        seconds = best["Yarrow PA-I learn_many"]
        return [Bar("learn_many: a value", 1e9 * seconds / X.size, at_most=1.5, unit="ns")]

    return [*found, _compared("`learn_many` of the DataFrame", many, X.size, a_value)]


def _one_row() -> Comparison:
    X, y = _table_rows()
    names = [f"c{j}" for j in range(X.shape[1])]
    dicts = [dict(zip(names, row, strict=True)) for row in X[:2_000].tolist()]
    labels = y[:2_000].tolist()
    our = ours.learn_one(dicts, labels)
    passive = peers.river_learned("PAClassifier", dicts, labels)
    logistic = peers.river_learned("LogisticRegression", dicts, labels)
    runs = {
        "Yarrow predict_one": lambda: [our.predict_one(x) for x in dicts],
        "river PAClassifier.predict_one": lambda: [passive.predict_one(x) for x in dicts],
        "river LogisticRegression.predict_one": lambda: [logistic.predict_one(x) for x in dicts],
        "Yarrow learn_one": lambda: ours.learn_one(dicts, labels),
        "river PAClassifier.learn_one": lambda: peers.river_pa1(dicts, labels),
    }

    def bars(best: Best) -> list[Bar]:
        return [
            speed(best, "Yarrow predict_one", "river PAClassifier.predict_one", 4),
            speed(best, "Yarrow predict_one", "river LogisticRegression.predict_one", 1.5),
            speed(best, "Yarrow learn_one", "river PAClassifier.learn_one", 8),
        ]

    return _compared("Dicts of 100 numbers, one by one", runs, len(dicts), bars, "ns/row")


def _whole_table(X: Any) -> Comparison:
    """Nanoseconds a value of every combination, in a note: too many for a list of contenders."""
    import pandas as pd

    dense, labels = _table_rows()
    whole = np.rint(50 * dense)  # integers, too
    whole[whole == 0] = 1
    y = np.where(np.arange(X.shape[0]) % 2, 1, -1)
    rows: list[tuple[str, str, Any, np.ndarray, int]] = []
    for value in ("f4", "f8", "i8"):
        kind = np.dtype(value).name
        for index in ("i4", "i8"):
            sparse_rows = _as(X * 100 if value == "i8" else X, value, index)
            sparse_rows.data[sparse_rows.data == 0] = 1
            rows.append((kind, f"CSR, {np.dtype(index).name}", sparse_rows, y, X.nnz))
        cells = whole.astype(value)
        for layout, given in (
            ("dense C", cells),
            ("dense Fortran", np.asfortranarray(cells)),
            ("frame", pd.DataFrame({f"c{j}": cells[:, j] for j in range(cells.shape[1])})),
        ):
            rows.append((kind, layout, given, labels, cells.size))

    def measured(best: Best) -> list[str]:
        lines = []
        for kind, layout, given, target, values in rows:
            model = ours.arow(given, target)
            times = race(
                {
                    "learn": processor_time(lambda: ours.arow(given, target)),  # noqa: B023
                    "predict": processor_time(lambda: model.predict(given)),  # noqa: B023
                    "probabilities": processor_time(lambda: model.predict_proba(given)),  # noqa: B023
                }
            )
            lines.append([kind, layout, *(f"{1e9 * t / values:.2f}" for t in times.values())])
        header = ["values", "layout", "learn", "predict", "probabilities"]
        return [f"Nanoseconds a value, best of 5:\n\n{table(header, lines)}"]

    title = "AROW, every type and layout: CSR 50,000 x 67 values, dense 20,000 x 100"
    first = {"Yarrow AROW, CSR float32": processor_time(lambda: ours.arow(rows[0][2], y))}
    return Comparison(title, first, "ns/value", 1e9 / X.nnz, notes=measured)


def rows_as_text() -> list[Comparison]:
    """The same rows as text, whole processes, on both cores."""
    return [_text(200_000, 5, None), _text(1_000_000, 6, (4, 5))]


def _text(n: int, asked: float, asked_of_names: tuple[float, float] | None) -> Comparison:
    rows = data.RCV1Like()
    svm, vw = rows.text(n), rows.text(n, "vw")
    gigabytes = svm.stat().st_size / 1e9
    model, taught = data.folder() / "model", data.folder() / "taught"
    process(ours.train_text(svm, taught))
    our, names, hashed = "Yarrow, svmlight", "Yarrow, VW text", "Yarrow, VW text, --hash-bits 18"
    peer, predict = "Vowpal Wabbit", "Yarrow predict, svmlight"
    contenders, _ = timed_processes(
        {
            our: ours.train_text(svm, model),
            predict: [*ours.COMMAND, "predict", str(taught), str(svm), "--output", str(model)],
            names: ours.train_text(vw, model),
            hashed: [*ours.train_text(vw, model), "--hash-bits", "18"],
            peer: peers.vw_text(vw, model),
            "Yarrow, --help": [*ours.COMMAND, "--help"],
        }
    )

    def bars(best: Best) -> list[Bar]:
        asked_each = asked_of_names or (None, None)
        return [
            speed(best, our, peer, asked),
            speed(best, names, peer, asked_each[0]),
            speed(best, hashed, peer, asked_each[1]),
            _time_of(best, predict, our, 1.2),
        ]

    def start(best: Best) -> list[str]:
        return [f"Start-up, of which `--help` is most: {best['Yarrow, --help']:.2f} s."]

    title = f"Generated RCV1-like set as text, {n:,} rows, {gigabytes:.2f} GB"
    return Comparison(title, contenders, "s/GB", 1 / gigabytes, bars, start)
