"""Reviews of Amazon, by domain and sentiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yarrow.datasets.dataset import Dataset, joined
from yarrow.datasets.plain import parse_svmlight
from yarrow.datasets.source import (
    Source,
    TextSource,
    classes_option,
    features_option,
    options,
    part_option,
)
from yarrow.datasets.text import Features, tsv_documents
from yarrow.errors import ParameterError
from yarrow.lazy import np
from yarrow.parameters import choice

DOMAINS = ("books", "dvd", "electronics", "kitchen")


@options
class _Reviews(Source):
    domain: str = choice(
        default="all", options=("all", *DOMAINS), doc="The kind of goods reviewed."
    )
    task: str = choice(
        default="sentiment",
        options=("sentiment", "domain"),
        doc="What to predict: whether a review is positive, or what it is about.",
    )
    classes: Any = classes_option()

    def _check(self) -> None:
        if self.task == "domain" and self.domain != "all":
            raise ParameterError(
                f"{self.name}: task=domain is about all domains; choose some of them by 'classes'."
            )


@options
class AmazonReviews(_Reviews, TextSource, named="amazon-sentiment"):
    fields = ("domain", "label")

    features: Features = features_option("bigrams")

    def _read(self) -> Dataset:
        self._check()
        table = self._counted()
        y = table["label" if self.task == "sentiment" else "domain"]
        rows = self._rows_of(self.classes, y)
        if self.domain != "all":
            rows &= table["domain"] == self.domain
        return self._chosen(self._texts(table, y, rows), self.classes)

    def _documents(self) -> Iterator[dict[str, str]]:
        for row in tsv_documents(self.files[0].read):
            yield {**row, "text": f"{row['title']}\n{row['text']}"}


@options
class AmazonFive(AmazonReviews, named="amazon-sentiment/five"):
    domain: str = choice(
        default="all",
        options=("all", *DOMAINS, "video"),
        doc="The kind of goods reviewed.",
    )

    def _documents(self) -> Iterator[dict[str, str]]:
        return tsv_documents(self.files[0].read)


@options
class AmazonVectors(_Reviews, named="amazon-sentiment/vectors"):
    part: str = part_option()

    def _read(self) -> Dataset:
        self._check()
        train, test = (self._of_part(part) for part in ("train", "test"))
        data = self._parts(train, test, self.part)
        return self._chosen(data, self.classes)

    def _of_part(self, part: str) -> Dataset:
        found = []
        for file in self.files:
            domain = file.path.split("-")[2]
            if file.path.endswith(f"-{part}.svm.gz") and self.domain in ("all", domain):
                X, y = parse_svmlight(file.read(), self.size.features, first=0)
                labels = y.astype(np.int64) if self.task == "sentiment" else [domain] * len(y)
                found.append(self._dataset(X, labels))
        data = joined(found)
        return self._dataset(data.X, data.y)
