"""Sets that are streams by nature: their rows are in the order of time."""

from __future__ import annotations

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import File
from yarrow.datasets.source import Size, Source
from yarrow.lazy import np


def _csv(content: bytes) -> tuple[list[str], list[list[str]]]:
    """The head and the columns of a table without quotes."""
    head, *lines = content.decode("utf-8").splitlines()
    columns = zip(*(line.split(",") for line in lines), strict=True)
    return head.split(","), [list(column) for column in columns]


class Electricity(Source):
    """Whether the price of electricity in New South Wales went up, each half-hour.

    The columns are as published: all in [0, 1] but the day of the week.
    """

    name = "electricity"
    origin = (
        "Elec2 (Harries, Splice-2 comparative evaluation, UNSW 1999; Gama et al. 2004), MOA's "
        "elecNormNew"
    )
    order = "file order: half-hours in time, May 1996 to December 1998"
    size = Size(45_312, 8, 2)
    files = (
        File(
            "electricity/elecNormNew.csv.gz",
            "fb2895139b562359013e993d74d61ea390a1a2fa195ad883fb824ac1041485aa",
        ),
    )

    def _read(self) -> Dataset:
        from scipy.sparse import csr_array

        names, columns = _csv(self.files[0].read())
        X = np.array(columns[:-1], dtype=np.float32).T
        return self._dataset(csr_array(X), columns[-1], feature_names=names[:-1])


class Usenet1(Source):
    """Which messages interest a reader whose taste changes every 300 messages.

    99 words, noted as 0/1; five periods, whose first, third and fifth are about one interest.
    """

    name = "usenet1"
    origin = "Katakis, Tsoumakas, Vlahavas (ECAI 2008), over 20 Newsgroups"
    order = "file order: the stream as published; the interest changes at 300, 600, 900 and 1,200"
    size = Size(1500, 99, 2)
    files = (
        File(
            "usenet/usenet1.csv.gz",
            "b7eb666e7cda9f19ea7b570ce56b18d2d5f8fd1c498488a84b7c46e513c1263b",
        ),
    )

    def _read(self) -> Dataset:
        from scipy.sparse import csr_array

        names, columns = _csv(self.files[0].read())
        X = np.array(columns[:-1], dtype=np.float32).T
        return self._dataset(
            csr_array(X), np.array(columns[-1], dtype=np.int64), feature_names=names[:-1]
        )


class Usenet2(Usenet1):
    """The same with other interests: one of three topics at a time, so 1 is rarer."""

    name = "usenet2"
    files = (
        File(
            "usenet/usenet2.csv.gz",
            "89ab2e07336b2cc3b0a29375a2cfe0f8063c399cdfd99cb703409961c6b673c1",
        ),
    )
