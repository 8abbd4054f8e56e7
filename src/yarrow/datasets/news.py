"""News and mail: 20 Newsgroups and its subsets, Reuters-21578, Enron-Spam."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

from yarrow.datasets.dataset import Dataset
from yarrow.datasets.files import fetched, listed
from yarrow.datasets.source import (
    Size,
    TextSource,
    classes_option,
    features_option,
    min_documents_option,
    options,
    part_option,
)
from yarrow.datasets.text import CountedTexts, Features
from yarrow.lazy import np
from yarrow.parameters import choice, flag, integer

(_NEWS,) = listed("20newsgroups/20news-bydate.tsv.gz")


def _from_sklearn() -> Iterator[dict[str, str]]:
    for part in ("train", "test"):
        found = fetched("fetch_20newsgroups", _NEWS, subset=part, shuffle=False)
        for text, target in zip(found.data, found.target, strict=True):
            yield {"split": part, "label": found.target_names[target], "text": text}


class _News(TextSource):
    origin = (
        "20 Newsgroups, version 'bydate' (Lang, NewsWeeder, ICML 1995; qwone.com/~jason/"
        "20Newsgroups)"
    )
    order = "shuffled with seed 0, since the file is sorted by group"
    files = (_NEWS,)
    has_fetcher = True
    fields = ("split", "label")
    headers = True

    def _documents(self) -> Iterator[dict[str, str]]:
        """All messages of both parts."""
        for row in super()._documents() if self.is_here() else _from_sklearn():
            text = row["text"] if self.headers else row["text"].partition("\n\n")[2]
            yield {**row, "text": text}

    def _messages(self) -> CountedTexts:
        return self._counted(f"headers={self.headers} {'' if self.is_here() else 'fetched'}")


@options
class Newsgroups(_News, named="20newsgroups"):
    part: str = part_option()
    classes: Any = classes_option()
    headers: bool = flag(default=True, doc="Read the lines above the first empty one, too.")

    def _read(self) -> Dataset:
        table = self._messages()
        rows = self._rows_of(self.classes, table["label"])
        both = self._texts(table, table["label"], rows)
        is_test = table["split"][rows] == "test"
        data = self._parts(both.take(~is_test), both.take(is_test), self.part)
        return self._chosen(data, self.classes)


@options
class _Subset(_News):
    groups: ClassVar[tuple[str, ...]]

    features: Features = features_option("counts")
    min_documents: int = min_documents_option(3)

    def _read(self) -> Dataset:
        table = self._messages()
        random = np.random.default_rng((self.seed, 2))
        rows = [
            random.choice(np.flatnonzero(table["label"] == group), 500, replace=False)
            for group in self.groups
        ]
        return self._texts(table, table["label"], np.concatenate(rows))


_SUBSET = """
    500 messages of each group, drawn with the seed, and words that occur in at least three of them.
    Built like the subset of that name of University College Dublin (mlg.ucd.ie/datasets), which
    Oiwa, Matsushima and Nakagawa seem to use. That one has stems and a stop list: take `stem=true`.
    Which groups that one has is not in their paper. Here: {}.
    """


def _subset(name: str, features: int, what: str, groups: tuple[str, ...]) -> type[TextSource]:
    doc = f"{len(groups)} groups that {what}.\n{_SUBSET}".format(", ".join(groups))
    fields = {"__doc__": doc, "name": f"20newsgroups/{name}", "groups": groups}
    size = Size(500 * len(groups), features, len(groups))
    return type(name, (_Subset,), {**fields, "size": size})


SUBSETS = tuple(
    _subset(name, features, what, tuple(groups.split()))
    for name, features, what, groups in (
        ("ob-2-1", 6403, "overlap", "rec.autos rec.motorcycles"),
        ("sb-2-1", 7563, "are far apart", "rec.autos sci.med"),
        ("ob-8-1", 19_341, "overlap",
         "rec.autos rec.motorcycles rec.sport.baseball rec.sport.hockey sci.crypt sci.electronics "
         "sci.med sci.space"),
        ("sb-8-1", 21_040, "are far apart",
         "comp.graphics misc.forsale rec.autos rec.sport.hockey sci.med sci.space "
         "soc.religion.christian talk.politics.mideast"),
    )
)  # fmt: skip


@options
class Reuters(TextSource, named="reuters21578"):
    fields = ("split", "topics")

    part: str = part_option("all")
    classes: Any = classes_option()
    topics: int = integer(
        default=20, doc="Number of topics, unless `classes` chooses them.", at_least=2
    )

    def _read(self) -> Dataset:
        table = self._counted()
        topics = [set(text.split()) for text in table["topics"].tolist()]
        labels = self._labels(topics)
        rows = labels != ""
        both = self._texts(table, labels, rows)
        is_test = (table["split"] == "TEST")[rows]
        if self.part == "all":
            return both
        return self._parts(both.take(~is_test), both.take(is_test), self.part)

    def _labels(self, topics: list[set[str]]) -> Any:
        """A label for each article, empty if it is not taken."""
        if self.classes is not None:
            counts = Counter(topic for found in topics for topic in found)
            self._check_known(self.classes, counts)
        if self.classes is not None and len(self.classes) == 1:
            (topic,) = self.classes
            return np.array([topic if topic in found else f"not {topic}" for found in topics])
        if self.classes is not None:
            wanted = set(self.classes)
            return np.array(["".join(f & wanted) if len(f & wanted) == 1 else "" for f in topics])
        single = ["".join(found) if len(found) == 1 else "" for found in topics]
        common = Counter(topic for topic in single if topic).most_common(self.topics)
        wanted = {topic for topic, _ in common}
        return np.array([topic if topic in wanted else "" for topic in single])

    def _documents(self) -> Iterator[dict[str, str]]:
        for line in self.files[0].read().splitlines():
            article = json.loads(line)
            if article["has_topics"] == "YES" and article["lewissplit"] in ("TRAIN", "TEST"):
                yield {
                    "split": article["lewissplit"],
                    "topics": " ".join(article["topics"]),
                    "text": f"{article['title']}\n{article['body']}",
                }


_MAILBOXES = tuple(f"enron{number}" for number in range(1, 7))


@options
class EnronSpam(TextSource, named="enron-spam"):
    fields = ("set", "label")

    mailbox: str = choice(default="all", options=("all", *_MAILBOXES), doc="Whose mail.")

    def _read(self) -> Dataset:
        table = self._counted()
        rows = None if self.mailbox == "all" else table["set"] == self.mailbox
        return self._texts(table, table["label"], rows)
