"""Reviews: Amazon's by domain and sentiment, movies by polarity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yarrow.datasets.dataset import Dataset, joined
from yarrow.datasets.files import File
from yarrow.datasets.source import (
    Size,
    Source,
    TextSource,
    classes_option,
    options,
    part_option,
)
from yarrow.datasets.svmlight import parse_svmlight
from yarrow.datasets.text import FEATURES, Features, read_texts, tsv_documents
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
    files = (
        File(
            "amazon-sentiment/amazon-sentiment-acl.tsv.gz",
            "584fd1dffb6a39263c150fdd68ce8803837cf6df4158e48b535c4cfd580e6a09",
        ),
    )

    features: Features = choice(
        default="bigrams",
        options=FEATURES,
        doc="bigrams: counts of words and of pairs of neighbouring words; counts: of words; "
        "binary: 1 for each word that occurs.",
    )

    def _read(self) -> Dataset:
        self._check()
        table = read_texts(
            self.files[0],
            self._reviews(),
            fields=("domain", "label"),
            bigrams=self.features == "bigrams",
        )
        y = table["label" if self.task == "sentiment" else "domain"]
        rows = np.ones(len(y), dtype=bool)
        if self.domain != "all":
            rows = table["domain"] == self.domain
        if self.classes is not None and len(self.classes) > 1:
            self._check_known(self.classes, set(y.tolist()))
            rows &= np.isin(y, self.classes)
        return self._shuffled(self._chosen(self._texts(table, y, rows), self.classes))

    def _reviews(self) -> Iterator[dict[str, str]]:
        for row in tsv_documents(self.files[0].read):
            yield {**row, "text": f"{row['title']}\n{row['text']}"}


def _vectors(domain: str, part: str, packed: str, unpacked: str) -> File:
    commit = "74eec5e0ae06bd6614bce048abba492c16a633e3"
    return File(
        f"amazon-sentiment/msda5000-{domain}-{part}.svm.gz",
        packed,
        "https://raw.githubusercontent.com/GRAAL-Research/domain_adversarial_neural_network/"
        f"{commit}/data/{domain}_{part}.svmlight",
        unpacked,
    )


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
    files = (
        _vectors(
            "books",
            "train",
            "0f4db6fb8a85064ca40b19aef47d4b8d045411bc8e8763f4c9b517bd54fa7699",
            "317f9a2ec34b81de770b63a84d8c5cc2dc16bd0be6e079d2ff5b5bad5213ea19",
        ),
        _vectors(
            "books",
            "test",
            "8034b81c863284c06b3a4221043ab222f69433b13fc4a00912738d1c8687671c",
            "fe4605c7dcf0e0a9410fd2a32f247caaf9abb352cc6e4c3e0f400853163ad9c4",
        ),
        _vectors(
            "dvd",
            "train",
            "b2fc07407257f04dd4c9c555b98e542526a8db57ca0986d7ac064705f2c1b00f",
            "95f602aa08bf6b55758f7b0b18df3882fe30acb11987ee60b6b4bb3c44cba733",
        ),
        _vectors(
            "dvd",
            "test",
            "7c3e5d59d4661d6fe143122a40ebaca90e43053dbc0a95f96b5df943cf2073b1",
            "4fe1b1a15010f78d8d0c49fe362d35fd4677463a45f1ac02a9f410ae1e638060",
        ),
        _vectors(
            "electronics",
            "train",
            "db81208b4e4817e4b791f94791909c26cbbc71a7c5c51630f04078c66b373307",
            "7d0061f03ff3827e4f8036b051b5e5828fddc0cd115aa5b212cd28d624dc14e4",
        ),
        _vectors(
            "electronics",
            "test",
            "e81a179d05d6a75b558df18207934e37676ce2dbc8bd29ef8d95f90ebe7a7026",
            "641783bc941839c3a111d3488a1b7e3bd820a61ec14a129e7429b47703aa961d",
        ),
        _vectors(
            "kitchen",
            "train",
            "dd764010514fe5f17b5d0590276c2cbaef124d80d1aa9991daceb79e02526ad5",
            "a70b5ebfe1413e0e16280360905f5c3b64389c435cd20c0165dc9d7f293b31b5",
        ),
        _vectors(
            "kitchen",
            "test",
            "b4ddbe356cf17502b492e8c99583f8ec8180cb0e36644575d467d63a3651fd8c",
            "e1502b97a824eb12314be4447394fa736fecb781c0724e6529cd6733ac7ff6d8",
        ),
    )

    part: str = part_option()

    def _read(self) -> Dataset:
        self._check()
        train, test = (self._of_part(part) for part in ("train", "test"))
        data = self._parts(train, test, self.part)
        return self._shuffled(self._chosen(data, self.classes))

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


class MovieReviews(TextSource):
    """Whether a review of a movie is good (pos) or bad (neg); whole reviews."""

    name = "movie-reviews"
    origin = "polarity dataset v2.0 (Pang, Lee, ACL 2004)"
    order = "shuffled with seed 0, since the file is sorted by class"
    size = Size(2000, 39_696, 2)
    files = (
        File(
            "movie-reviews/movie-reviews.tsv.gz",
            "0dcf545fce3a6f402104d3d4df3ef772fdb5ebc1bea945fcdc8f22e7939ceaa6",
        ),
    )

    def _read(self) -> Dataset:
        documents = tsv_documents(self.files[0].read)
        table = read_texts(self.files[0], documents, bigrams=self.features == "bigrams")
        return self._shuffled(self._texts(table, table["label"]))


class MovieSentences(MovieReviews):
    """Whether a sentence from a review of a movie is good (pos) or bad (neg)."""

    name = "movie-reviews/sentences"
    origin = "sentence polarity dataset v1.0 (Pang, Lee, ACL 2005)"
    size = Size(10_662, 18_368, 2)
    files = (
        File(
            "movie-reviews/sentence-polarity.tsv.gz",
            "b1b161c44327c0e91c01de1261b3398d038e10cbcd86259db9b662326bec1b93",
        ),
    )
