"""Rows of files: all at once, batch by batch, and what is remembered of their format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from yarrow import AROWClassifier
from yarrow.errors import DataError
from yarrow.io.formats import StreamFormat
from yarrow.kernel import KernelPerceptron
from yarrow.online.driver import learn_files
from yarrow.online.file_batches import FileBatches, read_whole


def test_rows_of_several_formats_share_their_columns(tmp_path: Path) -> None:
    (tmp_path / "a.vw").write_text("1 2.0 | b:3 a\n-1 | c\n")
    (tmp_path / "b.csv").write_text("label,a,c\n1,0.5,7\n")
    stream_format = StreamFormat(table={"label": "label"})
    found = read_whole(
        [str(tmp_path / "a.vw"), str(tmp_path / "b.csv")], stream_format, most_values=5
    )
    np.testing.assert_array_equal(found.matrix.toarray(), [[3, 1, 0], [0, 0, 1], [0, 0.5, 7]])
    assert found.truth == [1, -1, 1]
    assert found.weights.tolist() == [2, 1, 1]


def test_too_many_values_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("1 1:1 2:1\n1 1:1\n")
    with pytest.raises(DataError, match=r"a\.svm: has more than 2 values"):
        read_whole([str(tmp_path / "a.svm")], StreamFormat(), most_values=2)


def test_files_without_rows(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("# nothing\n")
    with pytest.raises(DataError, match=r"a\.svm: there is no row"):
        read_whole([str(tmp_path / "a.svm")], StreamFormat(), most_values=2)


def test_how_far_the_reading_is_counts_all_files(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.svm", "b.svm")]
    for path in paths:
        Path(path).write_text("1 1:1\n-1 2:1\n")
    size = Path(paths[0]).stat().st_size
    files = FileBatches(paths)
    assert (files.position, files.share_read) == (0, 0.0)
    places = [(files.reading, files.position) for _ in files.read()]
    assert places == [(paths[0], size), (paths[1], 2 * size)]
    assert (files.position, files.share_read) == (2 * size, 1.0)


def test_how_far_a_pipe_is_nobody_knows() -> None:
    files = FileBatches(["-"])
    assert files.position is None
    assert files.share_read is None


@pytest.mark.parametrize("model", [AROWClassifier(), KernelPerceptron()], ids=["core", "kernel"])
def test_a_model_remembers_how_its_files_are_read(tmp_path: Path, model: object) -> None:
    (tmp_path / "a.svm").write_text("1 0:1\n-1 2:1\n")
    for _ in learn_files(model, [str(tmp_path / "a.svm")]):
        pass
    assert model._stream == {"format": "svmlight", "index_base": 0}  # type: ignore[attr-defined]
    (tmp_path / "b.svm").write_text("1 1:1\n-1 2:1\n")  # alone, its first index would be 1
    for _ in learn_files(model, [str(tmp_path / "b.svm")]):
        pass
    assert model._stream["index_base"] == 0  # type: ignore[attr-defined]


def test_rows_that_cannot_be_learned_are_skipped_and_told(tmp_path: Path) -> None:
    (tmp_path / "a.vw").write_text("1 | a\n| b\n1 -2 | c\n" + "| d\n" * 9 + "-1 | e\n")
    files = FileBatches([str(tmp_path / "a.vw")], StreamFormat(on_error="skip"))
    (batch,) = files.read()
    assert batch.truth == [1, -1]
    assert files.skipped == 11
    assert len(files.complaints) == 5
    assert files.complaints[0].endswith("a.vw, line 2: the row has no label")
    with pytest.raises(DataError, match=r"a\.vw, line 2: the row has no label"):
        list(FileBatches([str(tmp_path / "a.vw")]).read())


def test_rows_of_a_file_are_not_lost_to_a_model_that_came_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 2:1\n")
    model = AROWClassifier()
    reading = learn_files(model, [str(path)], StreamFormat())
    first = next(reading)  # the file's model is there, and no other one is
    model.learn_one({"a": 1}, "spam")
    with pytest.raises(DataError, match="Another thread gave this model its first rows"):
        list(reading)
    assert first.rows == 2
    assert model.t_ == 1


def test_each_pass_is_done_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 2:1\n1 1:2\n")
    told = learn_files(AROWClassifier(), [str(path)], passes=2, delay=1)
    assert [progress.done for progress in told] == [False, True, False, True]
