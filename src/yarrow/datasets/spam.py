"""Unwanted mail and messages."""

from __future__ import annotations

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import listed
from yarrow.datasets.source import Size, TextSource, options
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
