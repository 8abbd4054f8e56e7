"""Unwanted mail and messages."""

from __future__ import annotations

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import listed
from yarrow.datasets.source import Size, TextSource, options
from yarrow.datasets.svmlight import SvmlightSource
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
    files = listed("enron-spam/enron-spam.tsv.gz")

    fields = ("set", "label")

    mailbox: str = choice(default="all", options=("all", *_MAILBOXES), doc="Whose mail.")

    def _read(self) -> Dataset:
        table = self._counted()
        rows = None if self.mailbox == "all" else table["set"] == self.mailbox
        return self._texts(table, table["label"], rows)


class SmsSpam(TextSource):
    """Short messages, an eighth of them unwanted."""

    name = "sms-spam"
    origin = "SMS Spam Collection v.1 (Almeida, Gomez Hidalgo, Yamakami, DocEng 2011)"
    order = "file order: as the messages were collected"
    size = Size(5574, 8753, 2)
    files = listed("sms-spam/sms-spam.tsv.gz")


class DriftingSpam(SvmlightSource):
    """Mail over time, as 0/1 words; what spam (1) looks like changes slowly."""

    name = "spam-corpus-drift"
    origin = "Katakis, Tsoumakas, Vlahavas (Knowledge and Information Systems 22, 2010)"
    order = "file order: mail in time"
    size = Size(9324, 39_916, 2)
    files = listed("spam-corpus-drift/spam-corpus.svm.gz")
