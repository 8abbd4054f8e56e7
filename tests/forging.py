"""Forged model files: a file of every kind, changed at random, its digests made anew.

Whatever a file says, it is either refused with `ModelFileError` or gives a model that works: one
that predicts finite numbers, learns or refuses a row by name, and can be saved again.

    python tests/forging.py --seconds 3600      (`make fuzz` does so, on all cores)

Every file follows from its number, so that a run goes on where it was stopped, and a finding is
made again by `--number`. A number that ends the process or takes long is found by its notes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import multiprocessing
import os
import random
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import yarrow
from yarrow import model_file
from yarrow.errors import ModelFileError, YarrowError
from yarrow.linear_model import export_file
from yarrow.loading import loads
from yarrow.registry import PACKAGES

WORDS = ["cheap", "pills", "lunch", "today", "ünï", 7, -3]
SECONDS_A_FILE = 20
FORMATS = ("safetensors", "json", "text")
_SPECIAL = [
    None, True, False, 0, 1, -1, 2, 3, 26, 30, 63, 2**31, 2**53, 2**63, -(2**63), 10**40,
    0.5, -0.5, 1e-320, 1e38, 1e300, -1e308, math.inf, -math.inf, math.nan,
    "", "a", "load", "float32", "float64", "\ud800", "AROWClassifier", "/dev/stdin",
    [], [[]], {}, [None], {"pairs": [[1]]}, {"list": 3}, {"estimator": "load"},
    {"estimator": "load", "parameters": {"path": "/dev/zero"}},
    {"estimator": "Perceptron", "parameters": {"loss": 1}},
]  # fmt: skip
_NUMBERS = [
    0,
    1,
    -1,
    2,
    0.5,
    -0.0,
    1e-320,
    1e-30,
    1e30,
    3e38,
    1e300,
    2**31,
    2**63,
    math.nan,
    math.inf,
    -math.inf,
]
_DTYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "|u1", "<u8", "|b1"]


# -- files of every kind ---------------------------------------------------------------------------


def row(rng: random.Random, names: list[Any] = WORDS) -> dict[Any, float]:
    return {name: rng.choice([1.0, -1.0, 0.5, 2.0]) for name in rng.sample(names, 3)}


def _taught(model: Any, labels: list[Any], rows: int = 24) -> Any:
    rng = random.Random(1)
    for i in range(rows):
        model.learn_one(row(rng), labels[i % len(labels)])
    return model


def _content(model: Any) -> bytes:
    return b"".join(model_file.dump("it", *model._packed()))


def makers(kinds: str = "") -> dict[str, Callable[[], bytes]]:
    """What makes the content of a file of each kind."""
    found: dict[str, Callable[[], bytes]] = {}
    asked = kinds.partition(":")[0] if ":" in kinds else ""
    for kind, package in PACKAGES.items():
        if asked not in ("", kind) and (asked, kind) != ("export", "model"):
            continue
        module = getattr(__import__(f"yarrow.{package}"), package)
        for name in module.__all__:
            cls = getattr(module, name)
            for label, make in _makers_of(kind, name, cls):
                found[f"{'export' if label.endswith(FORMATS) else kind}:{label}"] = make
    return found


_NEEDS_A_FUNCTION = {"CustomClassifier", "StructuredClassifier"}


def _makers_of(kind: str, name: str, cls: Any) -> Iterator[tuple[str, Callable[[], bytes]]]:
    if not isinstance(cls, type) or name in _NEEDS_A_FUNCTION:
        return
    if kind == "decomposition":
        yield name, lambda: _decomposition(cls)
        return
    if name == "LateLabels":
        yield name, _late_labels
        return
    if not hasattr(cls, "_unpacked") or name == "ExportedModel":
        return
    parameters = getattr(cls, "__dataclass_fields__", {})
    variants: list[dict[str, Any]] = [{}]
    if kind == "model":
        if "dtype" in parameters:
            variants.append({"dtype": "float64"})
        if "multiclass" in parameters:
            choices = parameters["multiclass"].metadata["parameter"].choices
            variants += [{"multiclass": choice} for choice in choices if choice != "ovr"]
        if "covariance" in parameters:
            choices = parameters["covariance"].metadata["parameter"].choices
            variants += [{"covariance": choice} for choice in choices]
        if "average" in parameters:
            variants.append({"average": True})
        if "hash_bits" in parameters:
            variants.append({"hash_bits": 3})
    for settings in variants:
        words = ",".join(f"{key}={value}" for key, value in settings.items())
        label = f"{name}({words})"
        for classes in (2, 3):
            with contextlib.suppress(YarrowError, TypeError):
                model = _model(cls, settings, classes)
                _content(model)
                yield f"{label}/{classes}", lambda m=model: _content(m)  # type: ignore[misc]
                if kind == "model" and not settings and model.is_exportable:
                    for form in FORMATS:
                        yield f"{label}/{classes}/{form}", lambda m=model, f=form: _export(m, f)  # type: ignore[misc]
            if "Regressor" in name or "OneClass" in name or "Ranker" in name:
                break


def _model(cls: Any, settings: dict[str, Any], classes: int) -> Any:
    model = cls(**settings)
    name = cls.__name__
    if "OneClass" in name:
        rng = random.Random(2)
        for _ in range(12):
            model.learn_one(row(rng))
        return model
    if "Ranker" in name:
        rng = np.random.default_rng(0)
        return model.fit(rng.normal(size=(12, 3)), rng.normal(size=12))
    labels = [0.5, 1.5, -1.0] if "Regressor" in name else ["ham", "spam", "ünï"][:classes]
    if hasattr(model, "choose_one"):
        model = model.set_params(classes=labels)
        rng = random.Random(3)
        for i in range(24):
            model.learn(model.choose_one(row(rng)), bool(i % 2))
        return model
    return _taught(model, labels)


def _export(model: Any, form: str) -> bytes:
    from yarrow.linear_model.persistence import exported

    tensors, metadata = exported(model, model._weights())
    if form == "safetensors":
        return b"".join(model_file.dump("it", tensors, metadata))
    lines = export_file._json_lines if form == "json" else export_file._text_lines
    return "".join(f"{line}\n" for line in lines(tensors, metadata)).encode()


def _decomposition(cls: Any) -> bytes:
    rng = np.random.default_rng(0)
    name = cls.__name__
    small = {"n_components": 3, "rank": 3, "n_factors": 2, "block_size": 4, "n_kept": 3}
    known = {key: value for key, value in small.items() if key in cls.__dataclass_fields__}
    model = cls(**known)
    if "Factorization" in name or "MF" in name or hasattr(model, "recommend"):
        pairs = [[f"u{i % 4}", f"i{i % 5}"] for i in range(20)]
        model.partial_fit(pairs, rng.integers(1, 6, 20).astype(float))
    else:
        X = rng.integers(0, 5, size=(11, 5)).astype(float)
        model.partial_fit(X)
    return b"".join(model_file.dump("it", *model._packed()))


def _late_labels() -> bytes:
    late = yarrow.feedback.LateLabels(yarrow.AROWClassifier(), keep=4)
    rng = random.Random(4)
    tickets = [late.predict(row(rng)) for _ in range(9)]
    for i, ticket in enumerate(tickets[:7]):
        late.learn(ticket, ["ham", "spam"][i % 2])
    return b"".join(model_file.dump("it", *late._packed()))


# -- changing them ---------------------------------------------------------------------------------


def forged(content: bytes, rng: random.Random) -> bytes:
    """The content of a file with some of it changed, and right digests."""
    if content[:1] in (b"{", b"#"):
        return _forged_text(content, rng)
    if rng.random() < 0.02:
        return _damaged(content, rng)
    tensors, metadata = model_file.parse("it", bytearray(content))
    tensors = {name: np.array(array) for name, array in tensors.items()}
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if tensors and rng.random() < 0.6:
            _change_tensor(tensors, rng)
        else:
            metadata = _changed_json(metadata, rng)
    try:
        return b"".join(model_file.dump("it", tensors, metadata))
    except (ModelFileError, ValueError, RecursionError):  # what no file can hold
        return content


def _damaged(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.choice([len(data), len(data), rng.randrange(len(data))])])


def _forged_text(content: bytes, rng: random.Random) -> bytes:
    if content[:1] == b"{" and rng.random() < 0.7:
        changed = _changed_json(json.loads(content), rng)
        return json.dumps(changed).encode()
    if content[:1] == b"#" and rng.random() < 0.4:
        head, *lines = content.decode().split("\n")
        changed = _changed_json(json.loads(head[2:]), rng)
        return "\n".join([f"# {json.dumps(changed)}", *lines]).encode()
    return _damaged(content, rng)


def _nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _nodes(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value[:50]):
            yield from _nodes(item, (*path, place))


def _changed_json(document: Any, rng: random.Random) -> Any:
    document = json.loads(json.dumps(document))
    path = rng.choice(list(_nodes(document)))
    if not path:
        return document if rng.random() < 0.8 else rng.choice(_SPECIAL)
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    old = parent[path[-1]]
    change = rng.randrange(5)
    if change == 0 and isinstance(parent, dict):
        del parent[path[-1]]
    elif change == 1 and isinstance(old, list) and old:
        old.append(json.loads(json.dumps(rng.choice(old))))
    elif change == 2 and isinstance(old, list) and old:
        old.pop(rng.randrange(len(old)))
    elif change == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        parent[path[-1]] = rng.choice([old + 1, old - 1, -old, old * 2, float(old), str(old)])
    elif change == 4 and isinstance(parent, dict):
        parent[rng.choice([*parent, "new"])] = rng.choice(_SPECIAL)
    else:
        parent[path[-1]] = rng.choice(_SPECIAL)
    return document


def _change_tensor(tensors: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(list(tensors))
    array = tensors[name]
    change = rng.randrange(10)
    if change <= 4 and array.size:
        with warnings.catch_warnings(), contextlib.suppress(OverflowError, ValueError):
            warnings.simplefilter("ignore")
            flat = array.reshape(-1)
            for _ in range(rng.choice([1, 1, 2, 5])):
                flat[rng.randrange(flat.size)] = rng.choice(_NUMBERS)
    elif change == 5 and array.ndim:
        axis = rng.randrange(array.ndim)
        if rng.random() < 0.5:
            tensors[name] = np.concatenate([array, array], axis=axis)
        elif array.shape[axis]:
            tensors[name] = np.delete(array, rng.randrange(array.shape[axis]), axis=axis)
    elif change == 6:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensors[name] = array.astype(rng.choice(_DTYPES))
    elif change == 7:
        del tensors[name]
    elif change == 8:
        other = rng.choice(list(tensors))
        tensors[name], tensors[other] = tensors[other], array
    else:
        tensors[rng.choice(["new", "own/new", "0/new", name + "x"])] = array.reshape(-1)[:3]


# -- judging what comes of it ----------------------------------------------------------------------


def judge(content: bytes, rng: random.Random) -> str:
    """Whether a file is refused, gives a model that refuses rows, or works; other errors escape."""
    try:
        model = loads(content)
    except ModelFileError:
        return "refused"
    try:
        use(model, rng)
    except YarrowError:
        return "refuses rows"
    return "works"


def use(model: Any, rng: random.Random) -> None:
    """Predict, explain, learn, and go through a file once more."""
    repr(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        if hasattr(model, "transform_one"):
            _use_decomposition(model, rng)
        elif hasattr(model, "recommend"):
            _finite(model.predict([["u0", "i1"], ["new", "i2"]]))
            model.recommend("u1")
            model.partial_fit([["u0", "i1"], ["new", "i7"]], [3.0, 4.0])
        elif isinstance(model, yarrow.feedback.LateLabels):
            ticket = model.predict(row(rng))
            model.learn(ticket, "spam")
            model.n_waiting  # noqa: B018
        else:
            _use_learner(model, rng)
    if hasattr(model, "_packed"):
        loads(b"".join(model_file.dump("it", *model._packed())))


def _use_decomposition(model: Any, rng: random.Random) -> None:
    names = list(model._columns)
    for _ in range(5):
        x = {name: float(rng.randrange(4)) for name in names}
        _finite(list(model.transform_one(x).values()))
        model.learn_one(x)


def _use_learner(model: Any, rng: random.Random) -> None:
    for learns in (False, True, True):
        x = row(rng)
        said = model.predict_one(x)
        if isinstance(said, float):
            _finite([said])
        with contextlib.suppress(NotImplementedError):
            shares = model.predict_proba_one(x) if hasattr(model, "predict_proba_one") else {}
            if shares:
                _finite(list(shares.values()))
                assert all(-1e-9 <= p <= 1 + 1e-9 for p in shares.values()), shares
                assert abs(sum(shares.values()) - 1) < 1e-6, shares
        if hasattr(model, "explain_one"):
            model.explain_one(x)
        if hasattr(model, "top_features"):
            many = len(getattr(model, "classes_", ())) > 2
            model.top_features(3, **({"label": model.classes_[0]} if many else {}))
        if learns:
            _learn(model, x, said, rng)


def _learn(model: Any, x: dict[Any, float], said: Any, rng: random.Random) -> None:
    if hasattr(model, "choose_one"):
        model.learn(model.choose_one(x), True)
    elif not hasattr(model, "learn_one"):
        return
    elif "OneClass" in type(model).__name__:
        model.learn_one(x)
    elif "Ranker" in type(model).__name__:
        model.partial_fit(np.ones((2, 3)), [0.0, 1.0])
    elif isinstance(said, float):
        model.learn_one(x, rng.choice([0.5, 3.0]))
    else:
        model.learn_one(x, rng.choice(["ham", "spam", "new"]))


def _finite(numbers: Any) -> None:
    assert np.isfinite(np.asarray(numbers, dtype=float)).all(), numbers


# -- a long run ------------------------------------------------------------------------------------


class TooLong(BaseException):
    """A file has taken too long."""


def try_number(number: int, contents: list[tuple[str, bytes]]) -> tuple[str, str]:
    """What comes of the file of a number: its kind, and the verdict."""
    kind, content = contents[number % len(contents)]
    rng = random.Random(number)
    changed = forged(content, rng)
    signal.setitimer(signal.ITIMER_REAL, SECONDS_A_FILE)
    try:
        return kind, judge(changed, rng)
    except TooLong:
        return kind, f"takes more than {SECONDS_A_FILE} s"
    except Exception as error:
        return kind, f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(*_: Any) -> None:
    raise TooLong


def _work(part: int, parts: int, end: float, folder: Path, kinds: str) -> None:
    signal.signal(signal.SIGALRM, _too_long)
    contents = chosen(kinds)
    state = folder / f"part-{part}-of-{parts}{'-' + kinds if kinds else ''}.json"
    notes = json.loads(state.read_text()) if state.exists() else {"next": part, "counts": {}}
    counts: Counter[str] = Counter(notes["counts"])
    number, saved = notes["next"], time.time()
    at = os.open(folder / f"at-{part}", os.O_RDWR | os.O_CREAT)
    while time.time() < end:
        os.pwrite(at, f"{number:20d}".encode(), 0)
        kind, verdict = try_number(number, contents)
        fine = verdict in ("refused", "refuses rows", "works")
        counts[verdict if fine else "findings"] += 1
        if not fine:
            with (folder / "findings.txt").open("a") as file:
                file.write(f"{number}\t{kind}\t{verdict}\n")
        number += parts
        if time.time() - saved > 5 or time.time() >= end:
            state.write_text(json.dumps({"next": number, "counts": counts}))
            saved = time.time()


def chosen(kinds: str) -> list[tuple[str, bytes]]:
    """The files to be changed, those whose kind contains a text."""
    return [(kind, make()) for kind, make in sorted(makers(kinds).items()) if kinds in kind]


def main() -> int:
    parser = argparse.ArgumentParser(description="Forge model files and see what comes of it.")
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz/files"), help="for notes")
    parser.add_argument("--kinds", default="", help="only kinds that contain this text")
    parser.add_argument("--number", type=int, help="only this one, with its traceback")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.number is not None:
        contents = chosen(options.kinds)
        kind, content = contents[options.number % len(contents)]
        rng = random.Random(options.number)
        changed = forged(content, rng)
        options.folder.mkdir(parents=True, exist_ok=True)
        (options.folder / f"number-{options.number}").write_bytes(changed)
        print(kind, judge(changed, rng))
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    end, parts = time.time() + options.seconds, options.processes
    workers: dict[int, Any] = {}
    context = multiprocessing.get_context("spawn")
    crashes = 0
    while True:
        for part in range(parts):
            worker = workers.get(part)
            if worker is not None and worker.is_alive():
                continue
            if worker is not None and worker.exitcode != 0:
                crashes += 1
                at = (options.folder / f"at-{part}").read_text().strip()
                with (options.folder / "findings.txt").open("a") as file:
                    file.write(f"{at}\t\tended the process ({worker.exitcode})\n")
                _skip(options.folder, part, parts, options.kinds, int(at))
            if time.time() < end - 1:
                arguments = (part, parts, end, options.folder, options.kinds)
                workers[part] = context.Process(target=_work, args=arguments)
                workers[part].start()
        if time.time() >= end and not any(worker.is_alive() for worker in workers.values()):
            break
        time.sleep(0.5)
    totals: Counter[str] = Counter()
    for state in options.folder.glob("part-*.json"):
        totals.update(json.loads(state.read_text())["counts"])
    print(f"{sum(totals.values()):,} files so far: {dict(totals)}; {crashes} crashes in this run.")
    findings = options.folder / "findings.txt"
    if findings.exists():
        print(f"See {findings}.")
    return 1 if findings.exists() else 0


def _skip(folder: Path, part: int, parts: int, kinds: str, at: int) -> None:
    """Go on behind a file that has ended its process."""
    state = folder / f"part-{part}-of-{parts}{'-' + kinds if kinds else ''}.json"
    notes = json.loads(state.read_text()) if state.exists() else {"counts": {}}
    state.write_text(json.dumps(notes | {"next": at + parts}))


if __name__ == "__main__":
    sys.exit(main())
