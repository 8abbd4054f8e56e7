"""CSV: types of columns, dialects, and lines counted over whatever stands in them."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from data.tables import features, read
from hypothesis import given
from hypothesis import strategies as st

from yarrow.errors import DataError
from yarrow.io import csv_table, read_table


def test_csv_column_types_are_those_of_the_first_block(monkeypatch):
    monkeypatch.setattr(csv_table, "BLOCK", 200)
    cells = "n,c\n" + "1,x\n" * 100 + "2,7\n" * 100
    assert features(cells)[-1] == {"n": 2.0, "c=7": 1.0}
    with pytest.raises(
        DataError, match=r"line 102, field 'n': 'two' is not a number.*'categories'"
    ):
        features("n,c\n" + "1,x\n" * 100 + "two,x\n")
    assert features("n,c\n" + "1,x\n" * 100 + "two,x\n", categories=["n"])[-1] == {
        "n=two": 1,
        "c=x": 1,
    }


@pytest.mark.parametrize("block", [64, 100, 1 << 20])
def test_csv_rows_do_not_depend_on_the_size_of_blocks(monkeypatch, block):
    cells = "n,c,t\n" + "".join(f'{i / 7},c{i % 5},"w{i}\nw"\n' for i in range(300))
    expected = [{"n": i / 7, f"c=c{i % 5}": 1.0, f"t=w{i}": 1.0, "t=w": 1.0} for i in range(300)]
    del expected[0]["n"]
    monkeypatch.setattr(csv_table, "BLOCK", block)
    found = read(cells, text=["t"])
    assert [row for row, *_ in found] == expected
    assert [line for *_, line in found] == list(range(2, 602, 2))


def test_csv_declared_numbers_and_marks_of_missing_values():
    assert features("n\n!\n5\n") == [{"n=!": 1}, {"n=5": 1}]
    assert features("n\n!\n5\n", missing=["!"]) == [{"n": 5}]
    with pytest.raises(DataError, match=r"line 2, field 'n': '!' is not a number"):
        features("n\n!\n5\n", numeric=["n"])


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ("a,b\r\n1,x\r\n", {}),
        ("a,b\n1,x", {}),
        ("\ufeffa,b\n1,x\n", {}),
        ("a;b\n1;x\n", {"delimiter": ";"}),
        ("1,x\n", {"columns": ["a", "b"]}),
        ('"a","b"\n"1","x"\n', {}),
        ("a,b\n\n 1 ,x\n\n\n,\n", {}),
    ],
    ids=["crlf", "no newline", "mark", "semicolon", "no header", "quotes", "blank lines"],
)
def test_csv_dialects(cells, options):
    assert features(cells, **options) == [{"a": 1, "b=x": 1}]


def test_quotes_may_be_plain_characters():
    cells = 'a\tb\n1\t"open\n2\t"shut"\n'
    found = features(cells, delimiter="\t", quotes=False)
    assert found == [{"a": 1, 'b="open': 1}, {"a": 2, 'b="shut"': 1}]


def test_tsv_is_known_by_its_name(tmp_path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\tb\n1\tx\n"))
    [rows] = read_table(tmp_path / "t.tsv.gz")
    assert list(rows.dicts()) == [{"a": 1, "b=x": 1}]


cell = st.sampled_from(["1", "x", "a b", "two\nlines", 'quo"te', "", "a,b", "\n\n", ',"\n'])
csv_line = st.lists(cell, min_size=2, max_size=4) | st.just([])


@given(
    st.lists(csv_line, max_size=12),
    st.sampled_from([1, 7, 64, 1 << 20]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_lines_are_counted_over_blank_broken_and_long_rows(lines, block, quoting):
    buffer = io.StringIO("a,b,c\n")
    buffer.seek(0, io.SEEK_END)
    writer = csv.writer(buffer, lineterminator="\n", quoting=quoting)
    starts = []
    for line in lines:
        starts.append(buffer.getvalue().count("\n") + 1)
        writer.writerow(line)
    good = [
        (at, {f"{name}={cell}": 1 for name, cell in zip("abc", line, strict=True) if cell})
        for at, line in zip(starts, lines, strict=True)
        if len(line) == 3 and any(line)
    ]
    bad = [at for at, line in zip(starts, lines, strict=True) if len(line) in (2, 4)]

    before = csv_table.BLOCK
    csv_table.BLOCK = block
    try:
        table = read_table(
            io.BytesIO(buffer.getvalue().encode()),
            format="csv",
            categories=["a", "b", "c"],
            on_error="skip",
        )
        found = [line for rows in table for line in zip(rows.lines, rows.dicts(), strict=True)]
    finally:
        csv_table.BLOCK = before
    assert found == good
    assert [error.line for error in table.first_errors] == bad[:10]
    assert table.n_skipped == len(bad)
