"""Whatever an earlier version saved loads, answers as noted, and goes on to the same bits."""

from __future__ import annotations

import hashlib
import importlib
import json
import pickle
import shutil
import zlib
from pathlib import Path

import pytest
from golden import make

import yarrow
from yarrow.activity.model.recogniser import FORMAT, Recogniser
from yarrow.errors import DataError
from yarrow.saving import model_file, registry
from yarrow.saving.registry import class_named, kind_of

GOLDEN = Path(make.__file__).parent
FOLDER = GOLDEN / "format-1"
STORIES = json.loads((FOLDER / "stories.json").read_text("utf-8"))
NAMES = json.loads((FOLDER / "names.json").read_text("utf-8"))
ARITHMETIC = make.arithmetic()


def load(name):
    if name.endswith(".pickle"):
        return pickle.loads((FOLDER / name).read_bytes())
    return yarrow.load(FOLDER / name, **make.OBJECTS.get(STORIES[name]["estimator"], {}))


def close(noted):
    """Numbers may differ in their last bits on another machine."""
    if isinstance(noted, float):
        return pytest.approx(noted, rel=1e-4, abs=1e-6)
    return [close(one) for one in noted] if isinstance(noted, list) else noted


def assert_told(told, story):
    if story.get("arithmetic", ARITHMETIC) == ARITHMETIC:
        assert told == story["noted"]
    else:  # pragma: no cover
        assert told["answers"] == close(story["noted"]["answers"])


MODELS = sorted(name for name in STORIES if name != "activity.sqlite")


@pytest.mark.parametrize("name", MODELS)
def test_a_golden_file_loads_answers_and_goes_on(name):
    story = STORIES[name]
    model = load(name)
    assert type(model).__name__ == story["estimator"]
    if "state" in story["as saved"]:  # loading is no arithmetic: the same on every machine
        assert make.state(model) == story["as saved"]["state"]
    else:
        assert make.answers(model) == close(story["as saved"]["answers"])
        return
    assert_told(make.told(model), {**story, "noted": story["as saved"]})
    make.teach(model, make.LEARNED, make.LEARNED + make.MORE, story["labels"])
    assert_told(make.told(model), {**story, "noted": story["after more rows"]})


@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith(".yarrow")])
def test_a_golden_file_is_written_again_as_it_is(name, tmp_path):
    """So that an older version of this format reads what this one writes."""
    load(name).save(tmp_path / "again")
    tensors, metadata = model_file.read(FOLDER / name)
    again, told = model_file.read(tmp_path / "again")
    assert make._without_version(told) == make._without_version(metadata)
    assert list(told) == list(metadata)
    assert {k: (v.dtype, v.shape, v.tobytes()) for k, v in again.items()} == {
        k: (v.dtype, v.shape, v.tobytes()) for k, v in tensors.items()
    }


@pytest.mark.parametrize(
    "file",
    sorted(path for path in FOLDER.glob("*.yarrow") if path.with_suffix(".json").exists()),
    ids=lambda p: p.stem,
)
def test_the_first_golden_files_load_and_go_on(file):
    """Their rules are exact on every machine (no exp, no pow), and so are their scores."""
    story = json.loads(file.with_suffix(".json").read_text())
    model = yarrow.load(file)
    assert type(model).__name__ == story["estimator"]
    assert {k: v for k, v in model.get_params().items() if k in story["parameters"]} == (
        story["parameters"]
    )
    for moment in ("as saved", "after more rows"):
        scores = [[float(s).hex() for s in model._fitted.score_one(x)[0]] for x in story["rows"]]
        assert scores == story[moment]["scores"]
        assert [model.predict_one(x) for x in story["rows"]] == story[moment]["predictions"]
        assert (model.t_, model.n_updates_) == tuple(story[moment]["counts"])
        for x, y in story["more rows"]:
            model.learn_one(x, y)


def test_there_is_a_golden_file_for_every_format_and_everything_that_is_saved():
    formats = {int(folder.name.removeprefix("format-")) for folder in GOLDEN.glob("format-*")}
    assert formats == set(range(1, model_file.VERSION + 1))
    assert {name for name, _ in make.makers()} <= STORIES.keys(), "see tests/golden/make.py"
    assert all((FOLDER / name).exists() for name in STORIES)


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in NAMES if kind not in ("log", "pickle")])
def test_a_name_in_a_file_means_a_class_for_ever(kind):
    """A class that is renamed needs an alias in `registry.py`, and its files the old name."""
    for name in NAMES[kind]:
        cls = class_named(kind, name)
        assert isinstance(cls, type)
        if kind != "export":
            assert kind_of(cls) == kind


def test_a_class_may_have_another_name_than_in_files(tmp_path, monkeypatch):
    """As if `Perceptron` had been called `Rosenblatt` when files were made."""
    kernel = yarrow.kernel.KernelPerceptron().partial_fit([[1.0], [2.0]], [0, 1])
    model = yarrow.Perceptron().partial_fit([[1.0], [2.0]], [0, 1])
    both = yarrow.experts.HedgeClassifier([yarrow.Perceptron()]).fit([[1.0], [2.0]], [0, 1])
    renamed = {("model", "Rosenblatt"): "Perceptron", ("kernel", "Support"): "KernelPerceptron"}
    monkeypatch.setattr(registry, "RENAMED", renamed)
    for one, name in ((model, "Rosenblatt"), (kernel, "Support"), (both, "Rosenblatt")):
        one.save(tmp_path / "it")
        metadata = json.dumps(model_file.read(tmp_path / "it")[1])
        assert f'"estimator": "{name}"' in metadata
        assert 'Perceptron"' not in metadata
        assert type(yarrow.load(tmp_path / "it")) is type(one)
        assert type(type(one).load(tmp_path / "it")) is type(one)


def test_names_of_classes_in_pickles_mean_them_for_ever():
    for name in NAMES["pickle"]:
        module, _, cls = name.partition(":")
        assert isinstance(getattr(importlib.import_module(module), cls), type), name


def test_no_name_is_missing_in_the_table():
    """Names that have come since then stand in it, too: files have them from now on."""
    for kind, names in make.names().items():
        assert set(names) <= set(NAMES[kind]), f"add these to names.json, {kind!r}"


# -- activities ------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    shutil.copy(FOLDER / "activity.sqlite", tmp_path)
    return tmp_path / "activity.sqlite"


def snapshots(log):
    store = make.Store(log)
    found = store._db.execute("SELECT state FROM snapshot").fetchall()
    store.close()
    return [state for (state,) in found]


@pytest.mark.parametrize("how", ["with its snapshot", "from its entries"])
def test_a_golden_log_opens_and_goes_on(log, how):
    story = STORIES["activity.sqlite"]
    store = make.Store(log)
    assert store.never() == ["secret"]
    if how == "from its entries":
        store._db.execute("DELETE FROM snapshot")
    store.close()
    session = make.session_of(log)
    found = {"as saved": make.recognised(session)}
    session.close()
    store = make.Store(log)
    store.append(make.events(270, 330))
    store.close()
    session = make.session_of(log)
    found["after more rows"] = make.recognised(session)
    session.close()
    assert not session.refused
    if story["arithmetic"] == ARITHMETIC:
        assert found == {moment: story[moment] for moment in found}


def test_a_golden_log_has_the_entries_that_were_written(log):
    expected = sorted([*make.SAID, *make.events(0, 270)], key=lambda entry: entry.time)
    assert make.entries_of(log) == expected
    assert {type(entry).__name__.lower() for entry in make.SAID} == set(NAMES["log"])


def test_entries_are_written_under_the_names_that_golden_logs_have(tmp_path, log):
    store = make.Store(tmp_path / "new.sqlite")
    store.append(make.SAID)
    rows = "SELECT time, kind, resource, title, application, duration, said FROM log ORDER BY time"
    written = store._db.execute(rows).fetchall()
    store.close()
    golden = make.Store(log)
    kept = [row for row in golden._db.execute(rows).fetchall() if row[-1] is not None]
    golden.close()
    assert written == kept


def test_a_golden_snapshot_is_the_state_of_its_log(log):
    (old,) = snapshots(log)
    make.session_of(log).close()  # a snapshot is a short cut only: the log has it all
    for state in snapshots(log):
        digest, packed = state[:32], state[32:]
        assert hashlib.sha256(packed).digest() == digest
        _, told = json.loads(zlib.decompress(packed))
        recogniser = Recogniser()
        if told["format"] != FORMAT:
            assert state == old
            with pytest.raises(DataError, match="the snapshot has format 5"):
                recogniser.load_state_dict(told)
    assert told["format"] == FORMAT
    recogniser.load_state_dict(told)
    assert json.loads(json.dumps(recogniser.state_dict())) == told
