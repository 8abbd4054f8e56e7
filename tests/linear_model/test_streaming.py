"""Learning and predicting from sources of every kind."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from yarrow import AROWClassifier, PassiveAggressiveRegressor, Perceptron
from yarrow.errors import DataError, NotFittedError, ParameterError
from yarrow.io.formats import StreamFormat, parse_interactions
from yarrow.online.core_stream import learn_stream
from yarrow.online.ledger import Progress
from yarrow.online.prediction import predict_files

ROWS = b"1 1:1 2:0.5\n-1 3:1\n1 1:2\n-1 2:1 3:1\n"


def learned(model: Any, *sources: Any, **options: Any) -> Progress:
    """The progress at the end of some sources."""
    return list(learn_stream(model, list(sources), **options))[-1]


def test_files_and_bytes_of_any_kind_are_sources(tmp_path: Path) -> None:
    plain, packed = tmp_path / "rows", tmp_path / "packed"
    plain.write_bytes(ROWS)
    packed.write_bytes(gzip.compress(ROWS))
    expected = AROWClassifier()
    learned(expected, plain)
    with open(plain, "rb") as file, open(packed, "rb", buffering=0) as raw:
        for source in (str(plain), packed, file, raw, io.BytesIO(ROWS)):
            model = AROWClassifier()
            progress = learned(model, source)
            assert (progress.rows, progress.bytes, progress.done) == (4, len(ROWS), True)
            assert model.coef_.tolist() == expected.coef_.tolist()


def test_a_file_that_was_begun_is_read_from_there(tmp_path: Path) -> None:
    plain = tmp_path / "rows"
    plain.write_bytes(b"# a line of another kind\n" + ROWS)
    with open(plain, "rb") as file:
        file.readline()
        model = AROWClassifier()
        assert learned(model, file).rows == 4
        assert file.closed is False


def test_there_is_one_account_of_all_sources_and_passes(tmp_path: Path) -> None:
    plain = tmp_path / "rows"
    plain.write_bytes(ROWS + b"1 1:x\n")
    stream_format = StreamFormat(on_error="skip")
    model = AROWClassifier()
    seen = [
        (p.number, p.done, [c.rows for c in p.checkpoints])
        for p in learn_stream(model, [plain, plain], stream_format, passes=2)
    ]
    assert [number for number, done, _ in seen if done] == [1, 1, 2, 2]
    assert [row for _, _, rows in seen for row in rows] == [1, 2, 4, 8, 16]
    assert model.t_ == 16
    progress = learned(AROWClassifier(), plain, plain, stream_format=stream_format, passes=2)
    assert progress.skipped == 4
    assert (
        progress.complaints == [f"{plain}, line 5, column 3, '1:x': the value is not a number"] * 4
    )


def test_results_are_class_numbers_or_values() -> None:
    found = list(learn_stream(Perceptron(), io.BytesIO(ROWS), keep_results=True))
    labels, predictions = found[0].results or ([], [])
    assert labels.tolist() == [0, 1, 0, 1]
    assert predictions[0] == -1  # no class is known yet
    assert found[-1].results is None
    found = list(learn_stream(PassiveAggressiveRegressor(), io.BytesIO(ROWS), keep_results=True))
    labels, predictions = found[0].results or ([], [])
    assert labels.tolist() == [1, -1, 1, -1]
    assert predictions[0] == 0


def test_a_new_model_that_fails_has_learned_nothing() -> None:
    model = AROWClassifier()
    with pytest.raises(DataError, match=r"^the input, line 5, column 3, '1:x': "):
        learned(model, io.BytesIO(ROWS + b"1 1:x\n"))
    with pytest.raises(NotFittedError):
        _ = model.coef_


@pytest.mark.parametrize("skipped", [b"", b"1 1:x\n"])
def test_no_row_at_all_is_an_error(skipped: bytes) -> None:
    with pytest.raises(DataError, match=r"^the input: there is no row to learn"):
        learned(AROWClassifier(), io.BytesIO(skipped), stream_format=StreamFormat(on_error="skip"))


def test_a_model_that_knows_something_may_meet_an_empty_file(tmp_path: Path) -> None:
    model = AROWClassifier()
    learned(model, io.BytesIO(ROWS))
    before = model.coef_.tolist()
    assert learned(model, io.BytesIO(b"")).rows == 0
    assert model.coef_.tolist() == before


@pytest.mark.parametrize("settings", [{}, {"hash_bits": 8}])
def test_rows_that_are_left_out_leave_no_names(settings: dict[str, Any]) -> None:
    """Their new names get numbers that names of the next rows have then, in the same block."""
    random = np.random.default_rng(0)
    lines, good = [], []
    for i in range(9_000):  # some blocks
        row = {f"w{n}": 0.25 for n in {*random.zipf(1.3, 8).tolist(), i // 2}}
        label = ["yes", "no", "other"][random.integers(3)]
        lines.append(f"{label} | " + " ".join(f"{name}:{value}" for name, value in row.items()))
        if label != "other":
            good.append((row, label))
    model, expected = (AROWClassifier(classes=["no", "yes"], **settings) for _ in range(2))
    text = io.BytesIO("\n".join(lines).encode())
    progress = learned(model, text, stream_format=StreamFormat(format="vw", on_error="skip"))
    for row, label in good:
        expected.learn_one(row, label)
    assert progress.rows == len(good) > 5_000
    assert model.coef_.tolist() == expected.coef_.tolist()
    if not settings:
        assert model.feature_names_ == expected.feature_names_


@pytest.mark.parametrize(("lowest", "highest"), [(1, 3), (0, 2)])
def test_an_index_may_be_as_large_as_the_number_of_features(lowest: int, highest: int) -> None:
    rows = f"1 {lowest}:1\n-1 {highest}:1\n".encode()
    model = AROWClassifier(max_features=3)
    assert learned(model, io.BytesIO(rows)).rows == 2
    with pytest.raises(DataError, match="the input, line "):
        learned(AROWClassifier(max_features=2), io.BytesIO(rows))


def test_lines_are_counted_from_one_and_rows_from_zero(tmp_path: Path) -> None:
    rows = [{"y": label, "x": 1.0} for label in ("a", "b", "c", "a")]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    lines = "".join(f"{row['y']},{row['x']}\n" for row in rows)
    (tmp_path / "rows.csv").write_text("y,x\n" + lines)
    for name, place in (("rows.parquet", "row 2"), ("rows.csv", "line 4")):
        for on_error in ("raise", "skip"):
            stream_format = StreamFormat(table={"label": "y"}, on_error=on_error)  # type: ignore[arg-type]
            model = Perceptron(classes=["a", "b"])
            if stream_format.on_error == "skip":
                progress = learned(model, tmp_path / name, stream_format=stream_format)
                complaint = progress.complaints[0]
            else:
                with pytest.raises(DataError) as caught:
                    learned(model, tmp_path / name, stream_format=stream_format)
                complaint = str(caught.value)
            assert complaint.startswith(f"{tmp_path / name}, {place}: the class 'c'")


def test_a_pipe_has_one_pass() -> None:
    for source in ("-", io.BytesIO(ROWS)):
        with pytest.raises(ParameterError, match="can be read only once"):
            learned(AROWClassifier(), source, passes=2)


def test_folders_and_missing_files_are_errors_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        learned(AROWClassifier(), tmp_path)
    with pytest.raises(FileNotFoundError):
        learned(AROWClassifier(), tmp_path / "none")


def test_the_format_is_that_said_or_named_or_remembered() -> None:
    stream_format = StreamFormat()
    names = ("a.svm", "a.vw.gz", "b.tsv.zst", "x.PARQUET", "c", "-")
    assert [stream_format.of(name) for name in names] == [
        "svmlight", "vw", "tsv", "parquet", "svmlight", "svmlight",
    ]  # fmt: skip
    assert StreamFormat(format="csv").of("a.vw") == "csv"
    remembering = stream_format.remembering({"format": "vw", "interactions": [["a", "b"]]})
    assert (remembering.of("-"), remembering.of("x.csv")) == ("vw", "csv")
    assert remembering.interactions == (("a", "b"),)
    with pytest.raises(ParameterError, match="'format' parameter must be one of svmlight, vw, csv"):
        StreamFormat(format="xml")


def test_what_is_said_goes_before_what_is_remembered() -> None:
    stream = {"format": "csv", "index_base": 0, "table": {"label": "y", "text": ["t"]}}
    stream_format = StreamFormat(index_base=1, table={"label": "z"}).remembering(stream)
    assert stream_format.index_base == 1
    assert stream_format.table == {"label": "z", "text": ["t"]}
    assert StreamFormat().remembering(stream).index_base == 0


def test_interactions_are_letters_or_names() -> None:
    assert parse_interactions(["ab", "user,item", "::"]) == (
        ("a", "b"),
        ("user", "item"),
        (":", ":"),
    )
    for wrong in ("a", "abc", "a,b,c", "a,"):
        with pytest.raises(ParameterError, match="two letters, or two names"):
            parse_interactions([wrong])


def test_predictions_of_a_stream_are_those_of_an_array() -> None:
    model = AROWClassifier()
    learned(model, io.BytesIO(ROWS))
    X = np.array([[1, 0.5, 0], [0, 0, 1], [2, 0, 0], [0, 1, 1]])
    for wanted, expected in (
        ("scores", np.column_stack([-model.decision_function(X), model.decision_function(X)])),
        ("probabilities", model.predict_proba(X)),
    ):
        [block] = predict_files(model, io.BytesIO(ROWS), wanted=wanted)
        assert block.predictions == model.predict(X).tolist()
        assert block.labels == [1, -1, 1, -1]
        assert block.table == expected.tolist()


def test_features_and_classes_never_seen_are_no_error_when_predicting() -> None:
    model = AROWClassifier()
    learned(model, io.BytesIO(ROWS))
    [block] = predict_files(model, io.BytesIO(b"other 1:1 2000000:1\n"))
    assert block.predictions == [1]
    assert block.labels == ["other"]


def test_nothing_is_predicted_before_anything_is_learned() -> None:
    with pytest.raises(NotFittedError):
        list(predict_files(AROWClassifier(), io.BytesIO(ROWS)))
