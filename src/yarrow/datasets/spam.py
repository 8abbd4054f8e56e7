"""Unwanted mail and messages."""

from __future__ import annotations

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import File
from yarrow.datasets.source import Size, Source, TextSource, options
from yarrow.datasets.svmlight import parse_svmlight
from yarrow.datasets.text import read_texts, tsv_documents
from yarrow.lazy import np
from yarrow.parameters import choice

_MAILBOXES = tuple(f"enron{number}" for number in range(1, 7))


@options
class EnronSpam(TextSource):
    """Mail of six people of Enron, and spam of six collectors.

    In order of date all spam of a mailbox comes after its other mail, so the rows are shuffled.
    """

    name = "enron-spam"
    origin = (
        "Enron-Spam, preprocessed (Metsis, Androutsopoulos, Paliouras, CEAS 2006); one message of "
        "enron4 is missing"
    )
    order = "shuffled with seed 0, since by date the classes follow one another"
    size = Size(33_715, 158_357, 2)
    files = (
        File(
            "enron-spam/enron-spam.tsv.gz",
            "084ee39d6742bb9f72ac556a0c74f2b57c6cb6da777ff6546d4b551fc66e3861",
        ),
    )

    mailbox: str = choice(default="all", options=("all", *_MAILBOXES), doc="Whose mail.")

    def _read(self) -> Dataset:
        table = read_texts(
            self.files[0],
            tsv_documents(self.files[0].read),
            fields=("set", "label"),
            bigrams=self.features == "bigrams",
        )
        rows = None if self.mailbox == "all" else table["set"] == self.mailbox
        return self._shuffled(self._texts(table, table["label"], rows))


class SmsSpam(TextSource):
    """Short messages, an eighth of them unwanted."""

    name = "sms-spam"
    origin = "SMS Spam Collection v.1 (Almeida, Gomez Hidalgo, Yamakami, DocEng 2011)"
    order = "file order: as the messages were collected"
    size = Size(5574, 8753, 2)
    files = (
        File(
            "sms-spam/sms-spam.tsv.gz",
            "f557485ad28db5b897bfecf57b1791f50198f7a4b8aacee6190600c59751fac3",
        ),
    )

    def _read(self) -> Dataset:
        documents = tsv_documents(self.files[0].read)
        table = read_texts(self.files[0], documents, bigrams=self.features == "bigrams")
        return self._texts(table, table["label"])


class DriftingSpam(Source):
    """Mail over time, as 0/1 words; what spam (1) looks like changes slowly."""

    name = "spam-corpus-drift"
    origin = "Katakis, Tsoumakas, Vlahavas (Knowledge and Information Systems 22, 2010)"
    order = "file order: mail in time"
    size = Size(9324, 39_916, 2)
    files = (
        File(
            "spam-corpus-drift/spam-corpus.svm.gz",
            "dba4202942b4f6bed89435d885e4ca63e9b744bb99ddddecddb75a9d9bc32fa8",
        ),
    )

    def _read(self) -> Dataset:
        X, y = parse_svmlight(self.files[0].read(), self.size.features)
        return self._dataset(X, y.astype(np.int64))
