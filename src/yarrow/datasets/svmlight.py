"""Small published sets in svmlight text: the classics of the LIBSVM page."""

from __future__ import annotations

import io
from typing import Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import File, listed
from yarrow.datasets.source import Size, Source, options, part_option
from yarrow.lazy import np


def parse_svmlight(content: bytes, columns: int, first: int = 1) -> tuple[Any, Any]:
    r"""Return the rows and labels of svmlight text, whose indices count from `first`.

    >>> X, y = parse_svmlight(b"+1 1:2 3:0.5\n-1\n", columns=3)
    >>> X.toarray().tolist(), y.tolist()
    ([[2.0, 0.0, 0.5], [0.0, 0.0, 0.0]], [1.0, -1.0])
    """
    from scipy.sparse import csr_array, vstack

    from yarrow.io.formats import StreamFormat, text_reader

    reader = text_reader(io.BytesIO(content), "svmlight", StreamFormat(index_base=first))
    parts, labels = [], []
    while (block := reader.next_arrays()) is not None:
        cells = block["values"].astype(np.float32), block["indices"], block["begins"]
        parts.append(csr_array(cells, (len(block["labels"]), columns)))
        labels += block["labels"]
    return vstack(parts, format="csr"), np.array(labels)


class SvmlightSource(Source):
    """A file of svmlight text, whose labels are integers."""

    def _read(self) -> Dataset:
        return self._of_file(self.files[0])

    def _of_file(self, file: File) -> Dataset:
        X, y = parse_svmlight(file.read(), self.size.features)
        return self._dataset(X, y.astype(np.int64))


@options
class WithTest(SvmlightSource):
    """The same with a second file, the test part."""

    part: str = part_option()

    def _read(self) -> Dataset:
        train, test = map(self._of_file, self.files)
        return self._parts(train, test, self.part)


def _classic(name: str, rows: int, features: int, doc: str, has_test: bool) -> type[Source]:
    """Declare a classic of two classes."""
    parts = (name, f"{name}.t") if has_test else (name,)
    origin = (
        "the test suite of Vowpal Wabbit, a sample of RCV1 (Lewis et al., JMLR 5, 2004)"
        if name == "rcv1-vw-small"
        else "the LIBSVM data page (Chang, Lin, csie.ntu.edu.tw/~cjlin/libsvmtools/datasets)"
    )
    declared = {
        "__doc__": doc,
        "name": name,
        "origin": origin,
        "order": "shuffled with seed 0, since the file may be sorted by class",
        "size": Size(rows, features, 2),
        "files": listed(*(f"libsvm-classics/{part}.svm.gz" for part in parts)),
    }
    return type(name, (WithTest if has_test else SvmlightSource,), declared)


CLASSICS: tuple[type[Source], ...] = tuple(
    _classic(name, rows, features, doc, has_test)
    for name, rows, features, has_test, doc in (
        ("a9a", 32_561, 123, True,
         "Whether somebody earns more than 50,000 dollars a year, from the census (Adult)."),
        ("w1a", 2477, 300, False,
         "Whether a web page belongs to a category, from its words; 3 % do (Platt 1998)."),
        ("mushrooms", 8124, 112, False,
         "Whether a mushroom is poisonous."),
        ("splice", 1000, 60, True,
         "Whether a piece of DNA has a splice junction."),
        ("german.numer", 1000, 24, False,
         "Whether a credit is a bad risk; columns as they were collected."),
        ("german.numer_scale", 1000, 24, False,
         "Whether a credit is a bad risk; columns scaled to [-1, 1]."),
        ("svmguide1", 3089, 4, True,
         "A set from astronomy with four columns of very different size."),
        ("diabetes", 768, 8, False,
         "Whether a person of the Pima has diabetes (-1) or not (+1)."),
        ("fourclass", 862, 2, False,
         "Four clouds of points in the plane, two of each class; no line separates them."),
        ("heart", 270, 13, False,
         "Whether a patient has a heart disease (Statlog)."),
        ("ionosphere", 351, 34, False,
         "Whether a radar signal shows structure in the ionosphere."),
        ("sonar", 208, 60, False,
         "Whether a sonar signal came from a mine or from a rock."),
        ("breast-cancer", 683, 10, False,
         "Whether a lump is benign (+1); the first column is the patient's number."),
        ("rcv1-vw-small", 1000, 47_236, True,
         "Whether a news story is about companies; rows have unit length. 1,000 stories and 500."),
    )
)  # fmt: skip
