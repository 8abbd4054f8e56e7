"""Reviews of Amazon, by domain and sentiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yarrow.datasets.dataset import Dataset, joined
from yarrow.datasets.files import listed
from yarrow.datasets.plain import parse_svmlight
from yarrow.datasets.source import (
    Size,
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
_AMAZON = (
    "Multi-Domain Sentiment (Blitzer, Dredze, Pereira, Biographies, Bollywood, Boom-boxes and "
    "Blenders, ACL 2007)"
)


@options
class _Reviews(Source):
    domain: str = choice(
        default="all", options=("all", *DOMAINS), doc="What the goods are that are reviewed."
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
class AmazonReviews(_Reviews, TextSource):
    """Reviews of books, DVDs, electronics and kitchen goods: 1,000 good and 1,000 bad of each.

    The features are counts of words and of pairs of words, of title and text, as in Blitzer et al.
    and in Crammer et al. (whose fifth and sixth domain are not to be had). `task=domain
    classes=books,dvd` is one of the latter's tasks, `domain=books` another.
    """

    name = "amazon-sentiment"
    origin = _AMAZON
    order = "shuffled with seed 0, since the file is sorted by domain and sentiment"
    size = Size(8000, 450_554, 2)
    files = listed("amazon-sentiment/amazon-sentiment-acl.tsv.gz")

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
class AmazonFive(AmazonReviews):
    """More reviews, of five domains (video, too): 3,000 good and 3,000 bad of each.

    Books alone have about as many words and pairs of words as Oiwa, Matsushima and Nakagawa have.
    """

    name = "amazon-sentiment/five"
    origin = f"{_AMAZON}; the choice of HATN (Li, Wei, Zhang, Yang, AAAI 2018)"
    size = Size(30_000, 1_118_904, 2)
    files = listed("amazon-5domain/amazon-5domain.tsv.gz")

    domain: str = choice(
        default="all",
        options=("all", *DOMAINS, "video"),
        doc="What the goods are that are reviewed.",
    )

    def _documents(self) -> Iterator[dict[str, str]]:
        return tsv_documents(self.files[0].read)


@options
class AmazonVectors(_Reviews):
    """The same goods, more reviews, as counts of the 5,000 most frequent words and pairs of words.

    2,000 reviews of each domain are the training part, the others the test part; those of books
    and DVDs are as many as Oiwa, Matsushima and Nakagawa have. Labels are -1 and 1, or the domain.
    """

    name = "amazon-sentiment/vectors"
    origin = f"{_AMAZON}; the vectors of mSDA (Chen et al., ICML 2012) and DANN (Ganin et al. 2016)"
    order = "shuffled with seed 0, since nothing is known of the order of its files"
    size = Size(8000, 5000, 2)
    files = listed(
        *(
            f"amazon-sentiment/msda5000-{domain}-{part}.svm.gz"
            for domain in DOMAINS
            for part in ("train", "test")
        )
    )

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
