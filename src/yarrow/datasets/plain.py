"""Sets that need no code of their own: svmlight text, tables and texts; `sets.toml` has them."""

from __future__ import annotations

import io
import types
from typing import Any, ClassVar

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import File
from yarrow.datasets.source import Source, TextSource, facts, options, part_option
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


class TableSource(Source):
    """A table without quotes, whose last column is the label."""

    label: ClassVar[type] = str

    def _read(self) -> Dataset:
        from scipy.sparse import csr_array

        head, *lines = self.files[0].read().decode("utf-8").splitlines()
        *columns, labels = zip(*(line.split(",") for line in lines), strict=True)
        X = csr_array(np.array(columns, dtype=np.float32).T)
        return self._dataset(X, np.array(labels, self.label), feature_names=head.split(",")[:-1])


class NumberedTable(TableSource):
    """The same with labels that are integers."""

    label = int


_READERS: dict[str, type[Source]] = {
    "svmlight": SvmlightSource,
    "svmlight with test": WithTest,
    "table": TableSource,
    "table of numbers": NumberedTable,
    "texts": TextSource,
}
#: by name
PLAIN: dict[str, type[Source]] = {
    name: types.new_class(name, (_READERS[about["read"]],), {"named": name})
    for name, about in facts().items()
    if "read" in about
}
