"""Connections of a network, and attacks among them: KDD Cup 1999 and NSL-KDD."""

from __future__ import annotations

import re
from typing import Any

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import fetched, kept
from yarrow.datasets.source import Source, options, part_option
from yarrow.lazy import np
from yarrow.parameters import choice

COLUMNS = re.findall(
    r"\w+",
    """
    duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot
    num_failed_logins logged_in num_compromised root_shell su_attempted num_root
    num_file_creations num_shells num_access_files num_outbound_cmds is_host_login is_guest_login
    count srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate
    diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count dst_host_same_srv_rate
    dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate
    dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate
    """,
)
_WORDS = ("protocol_type", "service", "flag")


@options
class KDDCup99(Source, named="kddcup99"):
    has_fetcher = True

    part: str = part_option()
    task: str = choice(
        default="attack",
        options=("attack", "binary"),
        doc="attack: normal, or the kind of attack; binary: normal or attack.",
    )

    def _read(self) -> Dataset:
        arrays = kept({"sha256": [file.sha256 for file in self.files]}, self._parsed)
        X, names = _matrix(arrays)
        y = arrays["labels"][arrays["which"]]
        if self.task == "binary":
            y = np.where(y == "normal", "normal", "attack")
        both = self._dataset(X, y, feature_names=names)
        split = int(arrays["split"])
        return self._parts(both.take(slice(split)), both.take(slice(split, None)), self.part)

    def _parsed(self) -> dict[str, Any]:
        """Both parts, one after the other: numbers, words and labels of the distinct lines."""
        if self.has_fetcher and not self.is_here():
            train, test = self._from_sklearn(), []
        else:
            train, test = (file.read().decode("ascii").splitlines() for file in self.files)
        lines = [*train, *test]
        distinct = dict.fromkeys(lines)  # a third of the lines, in the order of their appearance
        place = {line: number for number, line in enumerate(distinct)}
        columns = list(zip(*(line.split(",") for line in distinct), strict=True))
        numbers = [i for i, name in enumerate(COLUMNS) if name not in _WORDS]
        words = {name: np.array(columns[COLUMNS.index(name)]) for name in _WORDS}
        which = np.array([place[line] for line in lines], dtype=np.int32)
        return {
            "numbers": np.loadtxt(distinct, np.float32, delimiter=",", usecols=numbers),
            "labels": np.char.rstrip(np.array(columns[len(COLUMNS)]), "."),
            "which": which,
            "split": np.array(len(train)),
            **words,
        }

    def _from_sklearn(self) -> list[str]:
        found = fetched("fetch_kddcup99", self.files[0], percent10=True)
        return [
            ",".join(cell.decode() if isinstance(cell, bytes) else str(cell) for cell in row)
            for row in np.column_stack([found.data, found.target]).tolist()
        ]


def _matrix(arrays: dict[str, Any]) -> tuple[Any, list[str]]:
    """Numbers as they are and a column for each word, of all lines; and the columns' names."""
    from scipy.sparse import csr_array, hstack

    blocks = [csr_array(arrays["numbers"])]
    names = [name for name in COLUMNS if name not in _WORDS]
    for name in _WORDS:
        values, which = np.unique(arrays[name], return_inverse=True)
        rows = np.arange(len(which) + 1)
        ones = np.ones(len(which), np.float32)
        blocks.append(csr_array((ones, which, rows), (len(which), len(values))))
        names += [f"{name}={value}" for value in values.tolist()]
    return hstack(blocks, format="csr")[arrays["which"]], names


class NSLKDD(KDDCup99, named="nsl-kdd"):
    has_fetcher = False
