"""Makes golden files: something of every kind that is saved, and what must come of it.

    python tests/golden/make.py [NAME ...]

A file in `format-N/` is a model, a pickle or a log of activities as `save` and others wrote it. Its
story, a line of `stories.json`, says what it answers to the rows in `rows.json`, the digest of its
state, and both again after more rows, as told by a model that went on without being saved. (The
first models have stories of their own beside them, with their rows.) `names.json` has all names
that files of that time may hold: of estimators, of entries of a log, and of classes in pickles.

Files are never made again: they are the proof that old ones keep loading. What is there is left
alone, and new kinds are added. A new format gets a new folder, and the old ones stay.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import yarrow
from yarrow import (
    bandit,
    composite,
    decomposition,
    experts,
    feature_selection,
    features,
    feedback,
    kernel,
    linear_model,
)
from yarrow.activity.app.session import Session
from yarrow.activity.log import entries as said
from yarrow.activity.log.entries import Event
from yarrow.activity.log.store import Store
from yarrow.activity.model.features import Features
from yarrow.activity.model.recogniser import Recogniser
from yarrow.activity.sources.clock import Clock
from yarrow.saving import model_file

FOLDER = Path(__file__).parent / f"format-{model_file.VERSION}"
LEARNED, MORE = 60, 25  # rows before and after a file is made
CLASSES = ["ham", "spam", "ünï"]
TWO = CLASSES[:2]
VALUES = [0.5, -1.25, 3.0]
FEATURES = ["alpha", "β", "5", "d", "e", "f"]


# -- what no file can hold -------------------------------------------------------------------------


def fading(s: yarrow.Situation) -> tuple[float, float]:
    """Forget a little with every row."""
    return 0.75, max(0.0, s.target - s.margin) * s.weight / (1.0 + s.zz)


def block_map(x: dict[str, float], label: str) -> dict[str, float]:
    """Every class has a copy of all features for itself."""
    return {f"{label}:{name}": value for name, value in x.items()}


#: a clock that stands, and that a pickle can hold
AT_NOON = functools.partial(float, 1_772_442_000)

OBJECTS: dict[str, dict[str, Any]] = {
    "CustomClassifier": {"rule": fading},
    "StructuredClassifier": {"feature_map": block_map},
    "LateLabels": {"clock": AT_NOON},
}


# -- models ----------------------------------------------------------------------------------------


def models() -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    """Name, maker and labels of a model of every class, and of whatever makes files differ."""
    for package in (linear_model, kernel, experts, bandit, feedback, decomposition, composite):
        for name in package.__all__:
            cls = getattr(package, name)
            if hasattr(cls, "_packed"):
                yield name, lambda cls=cls: fresh(cls), labels_of(name)
    arow, pa = linear_model.AROWClassifier, linear_model.PassiveAggressiveClassifier
    rda = linear_model.RDAClassifier
    for multiclass in ("top1", "max_loss", "topk", "all"):
        for cls in (arow, pa, linear_model.MIRAClassifier):
            try:
                cls(multiclass=multiclass)._check_parameters()
            except yarrow.YarrowError:  # they do not go together
                continue
            made = lambda cls=cls, how=multiclass: cls(multiclass=how)  # noqa: E731
            yield f"{cls.__name__}-{multiclass}", made, CLASSES
    for covariance in ("projected", "full", "factored"):
        made = lambda how=covariance: arow(covariance=how, dtype="float64")  # noqa: E731
        yield f"AROWClassifier-{covariance}", made, CLASSES
    for multiclass in ("top1", "all"):
        how = {"covariance": "joint", "multiclass": multiclass, "confidence_r": 3.0}
        yield f"AROWClassifier-joint-{multiclass}", lambda how=how: arow(**how), CLASSES
    yield "AROWClassifier-2", arow, TWO
    yield "AROWClassifier-declared-2", lambda: arow(classes=TWO), TWO
    yield "AROWClassifier-declared", lambda: arow(classes=[2, 0, 1], average=True), [0, 1, 2]
    yield "AROWClassifier-bool", lambda: arow(class_weight={True: 2.0}), [True, False]
    yield "AROWClassifier-mixed", arow, [1, "1", -(2**40)]
    yield "Perceptron-hashed", lambda: linear_model.Perceptron(hash_bits=3), CLASSES
    yield "RDAClassifier-top1", lambda: rda(l1=0.01, multiclass="top1", dtype="float64"), CLASSES
    yield "YarrowClassifier-2", linear_model.YarrowClassifier, TWO
    perceptron = kernel.KernelPerceptron
    yield "KernelPerceptron-polynomial", lambda: perceptron(kernel="polynomial", budget=9), TWO
    yield "HedgeClassifier-of-kinds", _of_kinds, CLASSES
    yield "LateLabels-keep", lambda: _late(keep=4), CLASSES


def labels_of(name: str) -> list[Any]:
    """The labels that a class of this name learns."""
    return VALUES if name.endswith("Regressor") else CLASSES


def fresh(cls: Any) -> Any:
    """A small model of a class."""
    name = cls.__name__
    if name == "LateLabels":
        return _late()
    if name == "StructuredClassifier":
        return cls(linear_model.AROWClassifier(fit_intercept=False), block_map, labels=CLASSES)
    if name == "GroupLassoClassifier":
        return cls(groups={"alpha": 0, "β": 0, "d": 1}, l21=0.01)
    settings = {
        "n_components": 3, "rank": 3, "n_factors": 2, "block_size": 4, "n_kept": 3, "budget": 12,
        "B": 3, "l1": 0.01, "classes": CLASSES if hasattr(cls, "choose_one") else None,
    }  # fmt: skip
    if name == "OnlinePCA":
        settings |= {"n_components": 2, "radius": 4.0}
    known = {key: value for key, value in settings.items() if key in cls.__dataclass_fields__}
    if "learners" in cls.__dataclass_fields__:
        kind = "AROWRegressor" if name.endswith("Regressor") else "AROWClassifier"
        known["learners"] = [getattr(linear_model, kind)(r) for r in (0.1, 1.0)]
    return cls(**known | OBJECTS.get(name, {}))


def _of_kinds() -> Any:
    """Learners inside of several kinds, one of which has learners inside itself."""
    inner = experts.HedgeClassifier([linear_model.Perceptron(), linear_model.RDAClassifier()])
    return experts.HedgeClassifier([kernel.KernelPerceptron(budget=5), inner])


def _late(keep: int = 0) -> Any:
    return feedback.LateLabels(linear_model.AROWClassifier(), keep=keep, clock=AT_NOON)


def pickled() -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    """What is kept by pickle: one of each kind, and all that has no file of its own."""
    for package in (features, feature_selection):
        for name in package.__all__:
            cls = getattr(package, name)
            if isinstance(cls, type):
                yield name, cls, TWO
    for cls in (
        linear_model.AROWClassifier,
        linear_model.RDAClassifier,
        linear_model.YarrowClassifier,
        linear_model.VotedPerceptron,
        kernel.KernelAROWClassifier,
        kernel.DUOLClassifier,
        experts.MixtureClassifier,
        experts.OnlineToBatchClassifier,
        bandit.BanditPAClassifier,
        feedback.PredictionSetClassifier,
        feedback.SelectiveClassifier,
        feedback.LateLabels,
        decomposition.OnlineSVD,
        decomposition.OnlineLDA,
        decomposition.OnlineRankMF,
    ):
        yield cls.__name__, lambda cls=cls: fresh(cls), CLASSES


EXPORTED = {
    "exported-2": (linear_model.AROWClassifier, TWO),
    "exported-3": (linear_model.RDAClassifier, [3, "3", "ünï"]),
    "exported-regressor": (linear_model.FOBOSRegressor, VALUES),
    "exported-ranker": (linear_model.PassiveAggressiveRanker, CLASSES),
}


# -- learning and asking ---------------------------------------------------------------------------


def rows() -> list[tuple[dict[str, float], int]]:
    """The rows of all stories: features, and the number of the class."""
    return [(x, code) for x, code in json.loads((FOLDER / "rows.json").read_text("utf-8"))]


def _make_rows() -> list[tuple[dict[str, float], int]]:
    plane = np.random.default_rng(99).normal(size=(len(FEATURES), 3))
    values = np.random.default_rng(1).integers(-4, 5, (LEARNED + MORE, len(FEATURES))) / 4
    named = [{n: float(v) for n, v in zip(FEATURES, x, strict=True) if v} for x in values]
    return list(zip(named, np.argmax(values @ plane, axis=1).tolist(), strict=True))


def teach(model: Any, first: int, last: int, labels: list[Any]) -> None:
    """Rows from one number to another, in whatever way the model learns."""
    for number, (x, code) in list(enumerate(rows()))[first:last]:
        label = labels[code % len(labels)]
        if isinstance(model, feedback.LateLabels):
            ticket = model.predict(x)
            if number % 8:
                model.learn(ticket, label)
        elif hasattr(model, "choose_one"):
            choice = model.choose_one(x)
            model.learn(choice, choice.label == label)
        elif hasattr(model, "learn_pair"):
            model.learn_pair(x, {"alpha": float(code), "d": -0.5})
        elif hasattr(model, "recommend"):
            model.learn_one({"user": f"u{number % 4}", "item": number % 5}, float(code))
        elif isinstance(model, features.TextFeatures):
            model.learn_one(" ".join(x))
        elif isinstance(model, feature_selection.InformationGain):
            model.learn_one(x, label)
        elif hasattr(model, "transform_one"):
            model.learn_one(_shares(x))
        elif isinstance(model, linear_model.OneClassPassiveAggressive):
            model.learn_one(x)
        else:
            model.learn_one(x, label)


def _shares(x: Mapping[str, float]) -> dict[str, float]:
    """A row of all columns: the first one names them."""
    return {name: abs(x.get(name, 0.0)) for name in FEATURES}


def answers(model: Any) -> list[Any]:
    """What a model answers to some rows: a label, or numbers."""
    shown = rows()[::12]
    if isinstance(model, feedback.LateLabels):
        model = model.model
    if hasattr(model, "recommend"):
        told = (model.predict_one({"user": "u1", "item": item}) for item in range(6))
        return [_rounded(one) for one in told]
    if isinstance(model, features.TextFeatures):
        return [_listed(model.transform_one(" ".join(x))) for x, _ in shown]
    if hasattr(model, "transform_one"):
        return [_listed(model.transform_one(_shares(x))) for x, _ in shown]
    found = [model.predict_one(x) for x, _ in shown]
    if hasattr(model, "predict_proba"):
        found += [_listed(model.predict_proba_one(x)) for x, _ in shown]
    return [_rounded(one) for one in found]


def _listed(numbers: Mapping[Any, float]) -> list[Any]:
    return [[str(name), _rounded(float(number))] for name, number in numbers.items()]


def _rounded(answer: Any) -> Any:
    """The digest of the state has all digits."""
    answer = answer.item() if isinstance(answer, np.generic) else answer
    return float(f"{answer:.6g}") if isinstance(answer, float) else answer


def state(model: Any) -> str:
    """The digest of all that a model has learned."""
    if hasattr(model, "_packed"):
        tensors, metadata = model._packed()
        found = {name: np.asarray(array) for name, array in tensors.items()}
        told: Any = [found, _without_version(json.loads(json.dumps(metadata)))]
        for name in ("waiting", "learned"):  # numbers of tickets are random
            if isinstance(model, feedback.LateLabels):
                told[1][name] = [row[1:] for row in told[1][name]]
    elif hasattr(model, "__getstate__"):
        told = model.__getstate__()
    return hashlib.sha256(json.dumps(_plain(told)).encode()).hexdigest()[:16]


def _without_version(metadata: Any) -> Any:
    if isinstance(metadata, dict):
        left_out = ("yarrow", "unstorable")  # the version, and where a function stood in memory
        return {k: _without_version(v) for k, v in metadata.items() if k not in left_out}
    return [_without_version(v) for v in metadata] if isinstance(metadata, list) else metadata


def _plain(value: Any) -> Any:
    """Arrays as their bytes, objects as what they hold."""
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, value.tobytes().hex()]
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tobytes"):  # array.array, and numbers of numpy
        return value.tobytes().hex()
    return repr(value) if isinstance(value, type) or callable(value) else _plain(vars(value))


def arithmetic() -> str:
    """What the machine makes of exp, of products of matrices and such, which differs in last bits.

    Where it is as it was when a file was made, a model must go on to the same bits.
    """
    x = np.linspace(-6, 6, 289)
    A = np.sin(np.arange(289.0)).reshape(17, 17)
    found = [np.exp(x), np.log1p(x * x), np.tanh(x), np.power(np.abs(x), 0.7), A @ A, A @ A[0],
             np.exp(x.astype(np.float32)), *np.linalg.qr(A), *np.linalg.svd(A),
             np.linalg.solve(A + 20 * np.eye(17), A)]  # fmt: skip
    found.append(np.array([f(v) for f in (math.exp, math.erf, math.atan) for v in x.tolist()]))
    return hashlib.sha256(b"".join(part.tobytes() for part in found)).hexdigest()[:16]


def told(model: Any) -> dict[str, Any]:
    """What a model says now."""
    return {"answers": answers(model), "state": state(model)}


def story(model: Any, labels: list[Any], write: Callable[[Any], None]) -> dict[str, Any]:
    """Teach a model, write it, and go on with it."""
    teach(model, 0, LEARNED, labels)
    write(model)
    found = {"estimator": type(model).__name__, "labels": labels, "arithmetic": arithmetic()}
    found["as saved"] = told(model)
    teach(model, LEARNED, LEARNED + MORE, labels)
    return found | {"after more rows": told(model)}


# -- a log of activities ---------------------------------------------------------------------------

#: one of each entry that a person can make; a log holds them among events
SAID: list[said.Said] = [
    said.Create(1_772_442_000.0, 0, "Tax return"),
    said.Create(1_772_442_000.5, 1, "Garden"),
    said.Create(1_772_442_001.0, 2, "Letters"),
    said.Declare(1_772_442_002.0, 0),
    said.Declare(1_772_444_400.0, 1),
    said.Correct(1_772_446_800.0, 2, since=1_772_446_200.0),
    said.Correct(1_772_447_400.0, 0, since=1_772_443_000.0, until=1_772_443_300.0),
    said.Confirm(1_772_448_000.0),
    said.Associate(1_772_448_060.0, "/home/me/garden/beds.txt", 1),
    said.Associate(1_772_448_090.0, "/home/me/letters/aunt.odt", None),
    said.Rename(1_772_448_100.0, 0, "Taxes"),
    said.Merge(1_772_449_000.0, 2, 1),
    said.Archive(1_772_449_500.0, 1),
    said.Archive(1_772_449_900.0, 1, archived=False),
    said.Declare(1_772_450_000.0, 1),
]
_FILES = ["tax/receipts.ods", "garden/beds.txt", "letters/aunt.odt", "tax/return.pdf"]


def events(first: int, last: int) -> list[Event]:
    """What happens on the desktop, twice a minute."""
    found = []
    for number in range(first, last):
        path = _FILES[(number // 60 + number % 2 * 3 * (number % 7 == 0)) % len(_FILES)]
        title = f"{path.rpartition('/')[2]} - {path.partition('/')[0]}"
        kind = "away" if number % 50 == 49 else "back" if number % 50 == 0 else "focus"
        resource = f"/home/me/{path}"
        at = 1_772_442_010.0 + 30 * number
        found.append(Event(at, kind, *([resource, title, "editor"] if kind == "focus" else [])))
    return found


def session_of(path: Path) -> Session:
    """A session on a log, whose clock stands behind all that happens."""
    return Session(Store(path), Clock(wall=lambda: 1_772_500_000.0))


def recognised(session: Session) -> dict[str, Any]:
    """What the recogniser has made of the log: its state, and what it thinks."""
    told = _as_in_format_5(session.recogniser) | {"format": None}  # counted up at each change
    return {"state": hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]}


def _as_in_format_5(recogniser: Recogniser) -> dict[str, Any]:
    """The state as snapshots had it when the golden files were written."""
    state = recogniser.state_dict()
    history, builder = state["_history"], state["_builder"]
    plain = ("_now", "_declared", "_declared_at", "_told_before", "_source", "_switched",
             "_refused", "_alarms", "_quiet_until")  # fmt: skip
    question = recogniser._question
    opened = builder["opened"]
    uses_of = recogniser._history.knowledge.folders._uses
    return {
        "format": 5,
        "builder": {
            "opened": {"told": [*opened["_told"].items()], "seen": [*opened["_seen"].items()]},
            **{name: builder[f"_{name}"]
               for name in ("start", "front", "counted_to", "front_until", "away")},
            "active": [*builder["_active"].items()],
            "shown": [[*shown, seconds] for shown, seconds in builder["_shown"]],
            "titles": [*builder["_titles"].items()],
            **{name: builder[f"_{name}"] for name in ("folders", "closed", "happened")},
        },
        "knowledge": history["knowledge"] | {
            "folders": [[number, [*uses.items()]] for number, uses in uses_of.items()]
        },
        "weights": state["_scorer"]["weights"],
        "answers": {"right": state["_answers"]["_right"], "all": state["_answers"]["_all"]},
        "activities": [dataclasses.asdict(one) for one in recogniser._activities.values()],
        "diary": history["diary"],
        "vectors": history["vectors"],
        "held": history["held"],
        "titles": [[resource, *title] for resource, title in history["titles"]],
        "plain": {name: state[name] for name in plain},
        "before": _features(recogniser._before),
        "present": _features(recogniser._present),
        "ending": state["_ending"],
        "question": None if question is None else {
            "alarm": dataclasses.asdict(question.alarm),
            "before": _features(question.before),
            "now": _features(question.now),
            "line": question.line,
        },
    }  # fmt: skip


def _features(features: Features) -> dict[str, Any]:
    return {
        "of_activities": features.of_activities.tolist(),
        "of_switch": features.of_switch,
        "words": [*features.words.items()],
        "of_words": features.of_words.tolist(),
    }


def make_log(path: Path) -> dict[str, Any]:
    """Write a log with everything that can be said, and a snapshot."""
    entries = sorted([*SAID, *events(0, 270)], key=lambda entry: entry.time)
    store = Store(path)
    store.append(entries)
    store.add_never("secret")
    store.close()
    session = session_of(path)
    found: dict[str, Any] = {"arithmetic": arithmetic(), "as saved": recognised(session)}
    session.close()  # leaves a snapshot
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(path.read_bytes())
        store = Store(copy)
        store.append(events(270, 330))
        store._db.execute("DELETE FROM snapshot")  # all of it from the beginning
        session = session_of(copy)
        found["after more rows"] = recognised(session)
        session.close()
    return found


def entries_of(path: Path) -> list[Any]:
    """The entries of a log as they stand in it."""
    store = Store(path)
    try:
        return [entry for _, entry in store.entries()]
    finally:
        store.close()


# -- names -----------------------------------------------------------------------------------------


def names() -> dict[str, list[str]]:
    """All names that files may hold today."""
    from yarrow.saving.registry import PACKAGES

    found: dict[str, list[str]] = {}
    packages = (linear_model, kernel, experts, bandit, feedback, decomposition, composite)
    for kind, package in zip(PACKAGES, packages, strict=True):
        assert package.__name__ == f"yarrow.{PACKAGES[kind]}"
        found[kind] = [n for n in package.__all__ if hasattr(getattr(package, n), "_unpacked")]
    found["export"] = [n for n in found["model"] if n != "ExportedModel"]
    found["log"] = sorted({type(entry).__name__.lower() for entry in SAID})
    found["pickle"] = sorted(
        f"{cls.__module__}:{cls.__qualname__}"
        for package in (*packages, features, feature_selection)
        for cls in (getattr(package, name) for name in package.__all__)
        if isinstance(cls, type)
    )
    return found


# -- making them -----------------------------------------------------------------------------------


def makers() -> Iterator[tuple[str, Callable[[Path], dict[str, Any]]]]:
    """The name of each file, and what makes it and its story."""
    for name, make, labels in models():
        yield (
            f"{name}.yarrow",
            lambda path, make=make, labels=labels: story(
                make(), labels, lambda model: model.save(path)
            ),
        )
    for name, make, labels in pickled():
        yield (
            f"{name}.pickle",
            lambda path, make=make, labels=labels: story(
                make(), labels, lambda model: path.write_bytes(pickle.dumps(model, 4)) and None
            ),
        )
    for name, (cls, labels) in EXPORTED.items():
        for suffix in ("safetensors", "json", "txt"):
            yield (
                f"{name}.{suffix}",
                lambda path, cls=cls, labels=labels: make_export(path, cls(), labels),
            )
    yield "activity.sqlite", make_log


def make_export(path: Path, model: Any, labels: list[Any]) -> dict[str, Any]:
    """Export a model; the export answers, and learns nothing more."""
    teach(model, 0, LEARNED, labels)
    model.export(path)
    return {"estimator": "ExportedModel", "as saved": {"answers": answers(yarrow.load(path))}}


def stories() -> dict[str, dict[str, Any]]:
    """The stories by the names of their files."""
    path = FOLDER / "stories.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def main(chosen: list[str]) -> None:
    """Make what is not there yet."""
    FOLDER.mkdir(exist_ok=True)
    if not (FOLDER / "rows.json").exists():
        _write("rows.json", _make_rows())
    if not (FOLDER / "names.json").exists():
        _write("names.json", names())
    found = stories()
    for name, make in makers():
        if name not in found and (not chosen or name in chosen):
            print(name, flush=True)
            found[name] = make(FOLDER / name)
    lines = (
        f"{json.dumps(name)}: {json.dumps(told, ensure_ascii=False)}"
        for name, told in sorted(found.items())
    )
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (FOLDER / "stories.json").write_text(text, encoding="utf-8")


def _write(name: str, value: Any) -> None:
    (FOLDER / name).write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
