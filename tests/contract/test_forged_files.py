"""Whatever a file says, it is refused, or gives a model that works: `forging` changes each kind."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import forging
import numpy as np
import pytest

import yarrow
from yarrow import decomposition, linear_model
from yarrow.errors import ModelFileError
from yarrow.saving import export_file, model_file


@pytest.mark.parametrize("kind", forging.KINDS)
def test_forged_files_are_refused_or_work(kind: str) -> None:
    files = forging.files_of(kind)
    for number in range(max(300, len(files))):
        name, content = files[number % len(files)]
        rng = random.Random(number)
        try:
            forging.judge(forging.forged(content, rng), rng)
        except Exception as error:
            raise AssertionError(f"{name}, number {number}: {error!r}") from error


@pytest.mark.parametrize("kind", [kind for kind in forging.KINDS if kind != "export"])
def test_extreme_parameters_are_refused_or_work(kind: str) -> None:
    for name, content in forging.files_of(kind):
        if "=" in name or name.endswith("/3"):
            continue  # its parameters are those of another
        for change, changed in forging.with_extreme_parameters(content):
            try:
                forging.judge(changed, random.Random(1))
            except Exception as error:
                raise AssertionError(f"{name}, {change}: {error!r}") from error


def forged(path: Path, model: Any, change: Any) -> Path:
    """The file of a model after a change to its tensors and metadata, with right digests."""
    tensors, metadata = model._packed()
    tensors = {name: np.array(array) for name, array in tensors.items()}
    metadata = json.loads(json.dumps(metadata))
    change(tensors, metadata)
    model_file.write(path, tensors, metadata)
    return path


def taught(model: Any) -> Any:
    for i in range(30):
        model.learn_one({"a": 1.0, "b": float(i % 3)}, ["x", "y", "z"][i % 3])
    return model


def regressor() -> Any:
    model = linear_model.YarrowRegressor()
    for i in range(30):
        model.learn_one({"a": 1.0, "b": float(i % 3)}, i % 3)
    return model


@pytest.mark.parametrize("multiclass", ["ovr", "top1", "topk", "all", "max_loss"])
def test_blocks_are_as_wide_as_their_classes(multiclass: str, tmp_path: Path) -> None:
    model = taught(linear_model.AROWClassifier(multiclass=multiclass))

    def widen(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors["blocks"] = np.concatenate([tensors["blocks"]] * 50, axis=2)
        for name in ("scale", "ww", "scale_sum", "column_updates", "column_memory", "restarts"):
            tensors[name] = np.concatenate([tensors[name]] * 50)

    with pytest.raises(ModelFileError, match="number of classes"):
        yarrow.load(forged(tmp_path / "wide", model, widen))


def test_a_regressor_has_one_column(tmp_path: Path) -> None:
    model = linear_model.PassiveAggressiveRegressor()
    model.learn_one({"a": 1.0}, 2.0)

    def widen(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors["blocks"] = np.concatenate([tensors["blocks"]] * 9, axis=2)
        for name in ("scale", "ww", "scale_sum", "column_updates", "column_memory", "restarts"):
            tensors[name] = np.concatenate([tensors[name]] * 9)

    with pytest.raises(ModelFileError, match="number of classes"):
        yarrow.load(forged(tmp_path / "wide", model, widen))


def test_an_export_has_a_score_a_class(tmp_path: Path) -> None:
    path = tmp_path / "export"
    taught(linear_model.Perceptron()).export(path)
    tensors, metadata = model_file.read(path)
    tensors = {name: np.array(array) for name, array in tensors.items()}
    tensors["intercept"] = np.zeros(400)
    model_file.write(path, tensors, metadata)
    with pytest.raises(ModelFileError, match="do not go together"):
        yarrow.load(path)


def change_scalar(place: int, value: float) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors["scalars"][place] = value

    return change


def change_array(name: str, value: Any) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors[name].reshape(-1)[:1] = value

    return change


def change_field(name: str, value: Any) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata[name] = value

    return change


def change_told(name: str, value: Any) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata["probabilities"][name] = value

    return change


def change_expert(name: str, value: Any) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata["experts"][0][name] = value

    return change


def without_tensor(name: str) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        del tensors[name]

    return change


def change_cell(name: str, place: Any, value: float) -> Any:
    def change(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors[name][place] = value

    return change


@pytest.mark.parametrize(
    ("make", "change", "says"),
    [
        ("arow", change_told("lapse", 0.7), "below chance"),
        ("arow", change_told("lapse", -0.1), "'lapse'"),
        ("arow", change_told("scale", 0.0), "'scale'"),
        ("arow", change_told("initial_variance", -1.0), "'initial_variance'"),
        ("arow", change_told("kind", "guess"), "'kind'"),
        ("arow", change_told("kind", "posterior"), "'noise' is missing"),
        ("arow", change_told("kind", "softmax"), "variances do not go together"),
        ("arow", change_cell("variance", 0, -1.0), "'variance'"),
        ("arow", without_tensor("variance"), "variances do not go together"),
        ("arow", without_tensor("intercept_variance"), "variances do not go together"),
        ("full", change_cell("covariance", (0, 1, 2), 9.0), "'covariance'"),
        ("full", change_cell("covariance", (0, 1, 1), -1.0), "'covariance'"),
        ("yarrow", change_expert("cut", -1.0), "'cut'"),
        ("yarrow", change_expert("weight", 1e300), "'weight'"),
        ("yarrow", change_expert("terms", [{"over": "all", "divided": True}]), "'over'"),
        ("yarrow", change_expert("terms", []), "numbers_0_0"),
        ("yarrow", without_tensor("numbers_0_0"), "numbers_0_0"),
        ("yarrow", change_cell("unit", 0, -1.0), "'unit'"),
        ("yarrow", change_cell("bends", 0, 2), "'bends'"),
        ("yarrow", change_cell("constant", (0, 0), np.nan), "'constant'"),
        ("yarrow", change_field("paired", False), "not 'paired'"),
        ("yarrow", change_field("experts", []), "no experts"),
        ("yarrow", change_field("limit", 0), "'limit'"),
        ("regressor", change_field("intervals", {"coverage": [0.5], "radius": [1.0]}), "intervals"),
        (
            "regressor",
            change_field("intervals", {"coverage": [0.5, 0.4], "radius": [1.0, 2.0]}),
            "intervals",
        ),
        (
            "regressor",
            change_field("probabilities", {"kind": "softmax"}),
            "its classes do not go together",
        ),
    ],
)
@pytest.mark.parametrize("form", ["safetensors", "json"])
def test_exports_are_typed_ranged_and_cross_checked(
    make: str, change: Any, says: str, form: str, tmp_path: Path
) -> None:
    models = {
        "arow": lambda: taught(linear_model.AROWClassifier()),
        "full": lambda: taught(linear_model.AROWClassifier(covariance="full")),
        "yarrow": lambda: taught(linear_model.YarrowClassifier()),
        "regressor": regressor,
    }
    tensors, metadata = models[make]()._exported()
    tensors = {name: np.array(array) for name, array in tensors.items()}
    change(tensors, metadata := json.loads(json.dumps(metadata)))
    path = tmp_path / "export"
    if form == "safetensors":
        model_file.write(path, tensors, metadata)
        with pytest.raises(ModelFileError, match=says):
            yarrow.load(path)
        return
    if says == "numbers_0_0":
        return  # in JSON numbers stand in their terms
    try:
        path.write_text("\n".join(export_file.lines_of("json", tensors, metadata)), "utf-8")
    except (LookupError, TypeError):
        return  # nobody could have written it
    with pytest.raises(ModelFileError):
        yarrow.load(path)


def test_a_file_names_only_classes_that_files_may_hold(tmp_path: Path) -> None:
    """`load` and other functions stand in the packages beside the classes."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # whoever opens it waits for ever
    model = taught(yarrow.experts.HedgeClassifier([yarrow.Perceptron()]))
    call = {"estimator": "load", "parameters": {"path": str(pipe)}}

    def call_in_a_parameter(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata["parameters"]["learners"] = {"list": [call]}

    def call_as_a_member(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata["members"][0] = {"fresh": call}

    def call_itself(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata |= {"kind": "model", "estimator": "load"}

    for change in (call_in_a_parameter, call_as_a_member, call_itself):
        with pytest.raises(ModelFileError, match="'load'"):
            yarrow.load(forged(tmp_path / "forged", model, change))


@pytest.mark.parametrize("bits", [20, 26, 30])
def test_sizes_are_compared_with_the_file_before_anything_is_made(
    bits: int, tmp_path: Path
) -> None:
    model = taught(linear_model.AROWClassifier(hash_bits=4))

    def claim(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata["parameters"]["hash_bits"] = metadata["made_with"]["hash_bits"] = bits

    path = forged(tmp_path / "large", model, claim)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="places"):
        yarrow.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (change_scalar(8, -1.0), "'scalars' has a number out of range"),  # the lapse
        (change_scalar(8, 0.9), "'scalars' has a number out of range"),
        (change_scalar(7, 0.0), "'scalars' has a number out of range"),  # the scale of margins
        (change_scalar(0, 0.5), "'scalars' has a number out of range"),  # rows
        (change_array("calibration_right", -1.0), "out of range"),
        (change_array("name_bytes", 255), "UTF-8"),
        (change_array("ww", -1.0), "out of range"),
        (change_array("scale", np.nan), "out of range"),
        (change_field("class_weights", [["x", -1.0]]), "'class_weights'.*number >= 0"),
        (change_field("class_weights", [["x", float("nan")]]), "'class_weights'.*number >= 0"),
        (change_field("classes", ["x", "y", "x"]), "nothing stands twice"),
        (change_field("classes", ["x", "y", "\ud800"]), "a class"),
        (change_field("classes", "xyz"), "a list"),
        (change_field("n_features_in", 10**30), "n_features_in"),
        (change_field("stream", {"format": "svmlight", "interactions": [1]}), "interactions"),
        (change_field("stream", {"format": "elf"}), "'format'"),
        (change_field("parameters", None), "'parameters' must be an object"),
        (change_field("parameters", {"r": 1, "R": 2}), "no parameter 'R'"),
    ],
)
def test_each_number_has_its_type_and_range(change: Any, says: str, tmp_path: Path) -> None:
    model = taught(linear_model.AROWClassifier())
    with pytest.raises(ModelFileError, match=says) as caught:
        yarrow.load(forged(tmp_path / "forged", model, change))
    assert str(tmp_path / "forged") in str(caught.value)


def covariance_of(**settings: Any) -> Any:
    return taught(linear_model.AROWClassifier(**settings))


def joint_covariance() -> Any:
    return covariance_of(covariance="joint", multiclass="top1")


@pytest.mark.parametrize(
    ("model", "change", "says"),
    [
        (covariance_of(), ("blocks", (0, 1, 0), 9.0), "'blocks' has a number out of range"),
        (
            taught(linear_model.ForgettingAROWClassifier(clock="rows")),
            ("blocks", (1, 2, 0), 31),
            "visit that has not been",
        ),
        (
            taught(linear_model.ForgettingAROWClassifier(clock="rows")),
            ("blocks", (1, 2, 0), 0.5),
            "visit that has not been",
        ),
        (taught(linear_model.VotedPerceptron()), ("column_memory", 0, -99), "number of rows"),
        (taught(linear_model.VotedPerceptron()), ("votes_step", 0, 1e300), "not finite"),
        (covariance_of(covariance="full"), ("covariances", (0, 1), 1e300), "'covariances'"),
        (covariance_of(covariance="full"), ("covariances", (0, -2), 1e9), "'covariances'"),
        (joint_covariance(), ("joint_covariance", 1, 1e300), "'joint_covariance'"),
        (joint_covariance(), ("joint_covariance", 0, -1e-3), "'joint_covariance' has a variance"),
        (joint_covariance(), ("joint_covariance", -2, 1e9), "'joint_covariance'"),
        (joint_covariance(), ("joint_covariance_queued", 0, 16), "'joint_covariance_queued'"),
        (covariance_of(covariance="factored"), ("factor_roots", 1, 1e300), "'factor_roots'"),
        (covariance_of(covariance="factored"), ("factor_roots", 0, 0.5), "'factor_roots'"),
        (covariance_of(covariance="factored", rank=30), ("blocks", (1, -1, 0), 1), "a factor too"),
        (taught(linear_model.YarrowClassifier()), ("full_covariance", (0, 0), 0), "no covariance"),
        (taught(linear_model.YarrowClassifier()), ("full_covariance", (0, 0), 9), "no covariance"),
        (taught(linear_model.YarrowClassifier()), ("mixture", 11, 3.0), "no covariance"),
        (taught(linear_model.YarrowClassifier()), ("mixture", 0, 1e300), "'mixture'"),
        (regressor(), ("drifting_covariance", (0, 0), 9), "no covariance"),
        (regressor(), ("drifting_weights", 0, 1e300), "'drifting_weights'"),
        (regressor(), ("full_weights", (0, 0), 1e300), "'bends'"),
        (regressor(), ("regression", 3, -1.0), "'regression'"),
        (regressor(), ("regression", 7 + 7, -0.5), "'regression'"),
    ],
)
def test_covariances_are_what_learning_can_make_of_them(
    model: Any, change: tuple[str, Any, float], says: str, tmp_path: Path
) -> None:
    """Loops rely on it: a variance that has grown would end in weights that are not finite."""
    name, place, value = change

    def put(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors[name][place] = value

    with pytest.raises(ModelFileError, match=says):
        yarrow.load(forged(tmp_path / "forged", model, put))


def matrix(cls: Any, **settings: Any) -> Any:
    rng = np.random.default_rng(0)
    return cls(**settings).partial_fit(rng.integers(0, 5, size=(11, 5)).astype(float))


@pytest.mark.parametrize(
    ("model", "change", "says"),
    [
        (matrix(decomposition.OnlineSVD, block_size=4), ("_basis", (4, 3), 2.0), "orthonormal"),
        (matrix(decomposition.OnlineSVD, block_size=4), ("_waiting", (0, 0), 1e101), "_waiting"),
        (
            matrix(decomposition.OnlineSVD, block_size=4, keep_left=True),
            ("_left", (0, 0), 1.5),
            "left vectors",
        ),
        (matrix(decomposition.OnlinePCA), ("_directions", (0, 0), 2.0), "orthonormal"),
        (matrix(decomposition.OnlinePCA), ("_logs", 4, -1e100), "sum to 1"),
        (matrix(decomposition.OnlineDictionaryLearning), ("_atoms", (0, 0), 2.0), "longer than 1"),
        (matrix(decomposition.OnlineDictionaryLearning), ("_with_rows", (0, 0), 9.0), "its sums"),
        (matrix(decomposition.OnlineLDA), ("_weights", (0, 0), 1e-320), "_weights"),
        (matrix(decomposition.OnlineLDA), ("_waiting_values", 0, 1e101), "_waiting_values"),
        (matrix(decomposition.OnlineHDP), ("_sticks", (0, 0), 1e-320), "its stick"),
    ],
)
def test_decompositions_are_what_learning_can_make_of_them(
    model: Any, change: tuple[str, Any, float], says: str, tmp_path: Path
) -> None:
    name, place, value = change

    def put(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        tensors[name][place] = value

    with pytest.raises(ModelFileError, match=says):
        yarrow.load(forged(tmp_path / "forged", model, put))


def test_a_block_takes_the_room_of_its_rows(tmp_path: Path) -> None:
    """However large a file says that blocks are."""
    model = matrix(decomposition.OnlineSVD, block_size=4)

    def claim(tensors: dict[str, Any], metadata: dict[str, Any]) -> None:
        metadata["parameters"]["block_size"] = 2**53

    loaded = yarrow.load(forged(tmp_path / "forged", model, claim))
    loaded.partial_fit(np.ones((2, 5)))
    assert loaded.n_rows_ == 13


@pytest.mark.parametrize("metadata", [[], None, 7, "text"])
def test_metadata_is_an_object(metadata: Any, tmp_path: Path) -> None:
    path = tmp_path / "forged"
    model_file.write(path, {}, metadata)
    with pytest.raises(ModelFileError, match="not a JSON object"):
        yarrow.load(path)


def test_numbers_may_stand_at_odd_addresses(tmp_path: Path) -> None:
    model = taught(linear_model.AROWClassifier(dtype="float64"))
    content = b"".join(model_file.dump("it", *model._packed()))
    size = 8 + int.from_bytes(content[:8], "little")
    header = content[8:size].rstrip() + b" "
    if (8 + len(header)) % 8 == 0:
        header += b" "
    path = tmp_path / "odd"
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[size:])
    row = {"a": 1.0, "b": 2.0}
    assert yarrow.load(path).predict_proba_one(row) == model.predict_proba_one(row)


@pytest.mark.parametrize("kind", ["kernel", "decomposition"])
def test_integers_are_no_fractions(kind: str, tmp_path: Path) -> None:
    """An array of integers in the place of fractions would lose what is learned next."""
    for name, content in forging.files_of(kind):
        tensors, metadata = model_file.parse(name, bytearray(content))
        for key, array in tensors.items():
            if array.dtype.kind == "f":
                changed = tensors | {key: np.zeros(array.shape, np.int64)}
                model_file.write(tmp_path / "forged", changed, metadata)
                with pytest.raises(ModelFileError, match="type"):
                    yarrow.load(tmp_path / "forged")


@pytest.mark.parametrize("field", ["estimator", "kind"])
def test_an_error_does_not_repeat_a_long_text_of_the_file(field: str, tmp_path: Path) -> None:
    path = forged(tmp_path / "m", taught(yarrow.AROWClassifier()), change_field(field, "x" * 10**6))
    with pytest.raises(ModelFileError, match=str(path)) as refused:
        yarrow.load(path)
    assert len(str(refused.value)) < 3000
