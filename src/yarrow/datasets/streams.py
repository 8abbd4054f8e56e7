"""Sets that are streams by nature: their rows are in the order of time."""

from __future__ import annotations

from typing import ClassVar

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import listed
from yarrow.datasets.source import Size, Source
from yarrow.lazy import np


class _Table(Source):
    """A table without quotes, whose last column is the label."""

    label: ClassVar[type] = str

    def _read(self) -> Dataset:
        from scipy.sparse import csr_array

        head, *lines = self.files[0].read().decode("utf-8").splitlines()
        *columns, labels = zip(*(line.split(",") for line in lines), strict=True)
        X = csr_array(np.array(columns, dtype=np.float32).T)
        return self._dataset(X, np.array(labels, self.label), feature_names=head.split(",")[:-1])


class Electricity(_Table):
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
    files = listed("electricity/elecNormNew.csv.gz")


class Usenet1(_Table):
    """Which messages interest a reader whose taste changes every 300 messages.

    99 words, noted as 0/1; five periods, whose first, third and fifth are about one interest.
    """

    name = "usenet1"
    origin = "Katakis, Tsoumakas, Vlahavas (ECAI 2008), over 20 Newsgroups"
    order = "file order: the stream as published; the interest changes at 300, 600, 900 and 1,200"
    size = Size(1500, 99, 2)
    files = listed("usenet/usenet1.csv.gz")
    label = int


class Usenet2(Usenet1):
    """The same with other interests: one of three topics at a time, so 1 is rarer."""

    name = "usenet2"
    files = listed("usenet/usenet2.csv.gz")
