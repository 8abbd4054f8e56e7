"""Whatever the bytes of a file, it is read, or refused in one sentence of this package.

Rows of real formats are changed at random. `YARROW_FUZZ_ROUNDS` asks for more rounds than the tests
have time for; `tools/fuzz.sh` gives the parsers of text inputs that it finds out.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import warnings
from collections.abc import Iterator

import pytest

from yarrow.errors import YarrowError
from yarrow.io.formats import StreamFormat
from yarrow.linear_model import AROWClassifier
from yarrow.online.core_stream import learn_stream

ROUNDS = int(os.environ.get("YARROW_FUZZ_ROUNDS", "150"))

SEEDS = {
    "svmlight": b"1 qid:3 1:0.5 2:1 # note\n-1 qid:4 3:1e3 7:-2\nspam 2:.5 9:1\n1 1:1\n",
    "vw": b"1 2 'tag |a x:1 y |b z:0.5\n-1 |a:2 x\nspam | caf\xc3\xa9 w:-3e2\n",
    "csv": b'label,age,town,text\nspam,31,Oslo,"Cheap, ""pills"""\nham,,Rome,lunch\n1,4e2,,x\n',
    "tsv": b"label\tage\ttown\nspam\t31\tOslo\nham\t\tRome\n",
    "jsonl": b'{"label": "spam", "age": 31, "o": {"a": [1, 2]}, "t": ["x", "y"]}\n'
    b'{"label": 1, "age": null, "town": "R\xc3\xb6m \\u00e9", "b": true}\n',
}
WORDS = [
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b"\xef\xbb\xbf", b"\0", b"\r", b"\n", b'"',
    b'""', b",", b"\t", b":", b"|", b"nan", b"-inf", b"1e999", b"1e39", b"9" * 30, b"-0", b"{",
    b"}", b"[", b"]", b"null", b"67108865:1", b"qid:", b"#", b"'",
    b"\x1f\x8b", b"BZh9", b"(\xb5/\xfd", b"\xfd7zXZ\0",
]  # fmt: skip


def changed(text: bytes, chance: random.Random) -> bytes:
    """The text with a few of its bytes changed, left out, doubled or joined with others."""
    for _ in range(chance.randint(1, 6)):
        at, size = chance.randrange(len(text) + 1), chance.choice((0, 1, 1, 2, 8, 30))
        word = chance.choice(WORDS) if chance.random() < 0.7 else bytes([chance.randrange(256)])
        if chance.random() < 0.2:
            word = text[chance.randrange(len(text) + 1) :][: chance.randint(1, 40)]
        text = text[:at] + word + text[at + size :]
    return text


@contextlib.contextmanager
def only_own_errors(text: bytes) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except YarrowError:
        pass
    except Exception as error:
        pytest.fail(f"{text!r} is refused by {type(error).__name__}: {error}")


@pytest.mark.parametrize("on_error", ["raise", "skip"])
@pytest.mark.parametrize("format", SEEDS)
def test_changed_rows_are_learned_skipped_or_refused(format: str, on_error: str) -> None:
    chance = random.Random(f"{format} {on_error}")
    for _ in range(ROUNDS):
        text = changed(SEEDS[format], chance)
        stream_format = StreamFormat(
            format=format,
            threads=1,
            on_error=on_error,  # type: ignore[arg-type]
            interactions=(("a", "b"), (":", ":")) if format == "vw" else (),
            table={"label": "label", "text": ["text"]} if format == "csv" else {"label": "label"},
        )
        with only_own_errors(text):
            for _ in learn_stream(AROWClassifier(), io.BytesIO(text), stream_format):
                pass
