"""All rows of files at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from yarrow.errors import DataError
from yarrow.io.formats import StreamFormat
from yarrow.online.files import read_whole


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
