"""How a named set declares itself: files with digests, figures, order, source, options.

`load`, `yarrow datasets` and docs/datasets.md come from that. Shuffled sets say why; streams keep
their order.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import shlex
import tomllib
from collections.abc import Collection, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

from yarrow.datasets.dataset import Dataset, joined, shuffled, task_of, with_noise
from yarrow.datasets.files import AbsentError, File, listed
from yarrow.datasets.text import (
    FEATURES,
    CountedTexts,
    Features,
    finished,
    read_texts,
    tsv_documents,
    used_columns,
)
from yarrow.errors import ParameterError
from yarrow.lazy import np, resource
from yarrow.parameters import (
    Parameter,
    anything,
    check_parameters,
    choice,
    flag,
    integer,
    number,
    parameters,
)

T = TypeVar("T")


def _are_classes(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, tuple | list) and len(set(value)) == len(value) >= 1


def classes_option() -> Any:
    """Which classes to keep."""
    return anything(
        default=None,
        allowed="None or different labels",
        accepts=_are_classes,
        doc="Keep these only; one alone is told from all others (one versus all).",
    )


def part_option(default: str = "train") -> Any:
    """Which part of a set with a test part of its own."""
    return choice(
        default=default,
        options=("train", "test", "all"),
        doc="train has the test part beside it, in `test`; all: both parts, one after the other "
        "before they are shuffled.",
    )


_FEATURES = {
    "binary": "1 for each word that occurs",
    "counts": "how often a word occurs",
    "bigrams": "counts of words and of pairs of neighbouring words",
}


def features_option(default: Features = "binary") -> Any:
    """What is made of the words of a text."""
    said = "; ".join(f"{name}: {_FEATURES[name]}" for name in FEATURES)
    return choice(default=default, options=FEATURES, doc=f"{said}.")


def min_documents_option(default: int = 1) -> Any:
    """How rare a word may be."""
    return integer(
        default=default, doc="Leave out what occurs in fewer texts than that.", at_least=1
    )


class Size(NamedTuple):
    """How large a set is; a regression has no classes."""

    rows: int
    features: int
    classes: int


@functools.cache
def facts() -> dict[str, dict[str, Any]]:
    """What is known of each set, by its name."""
    return tomllib.loads(resource("yarrow.datasets", "sets.toml"))


@dataclass_transform(kw_only_default=True, frozen_default=True)
def options(cls: type[T]) -> type[T]:
    """Make options of a set's fields: arguments that `load` takes, by name only."""
    return dataclasses.dataclass(frozen=True, kw_only=True)(cls)


@options
class Source:
    """A set that can be loaded by its name; what `sets.toml` says of it is declared there."""

    name: ClassVar[str]
    origin: ClassVar[str]
    """Who made it, and where it was published; one sentence."""
    order: ClassVar[str]
    """Which order the rows are in; a shuffle says why."""
    size: ClassVar[Size]
    """With the default options."""
    files: ClassVar[tuple[File, ...]] = ()
    has_fetcher: ClassVar[bool] = False
    """Whether scikit-learn fetches the same rows."""

    seed: int = integer(
        default=0, doc="Seed of everything drawn: shuffles, samples, noise.", at_least=0
    )
    noise: float = number(
        default=0.0,
        doc="Share of labels replaced by another; the true ones are kept in `clean`.",
        at_least=0,
        at_most=1,
    )

    def __init_subclass__(cls, named: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if named is not None:
            about = facts()[named]
            cls.name, cls.__doc__ = named, about["about"]
            cls.origin, cls.order = about["origin"], about["order"]
            cls.size, cls.files = Size(*about["size"]), listed(*about["files"])

    def load(self) -> Dataset:
        """Return the rows in their order, with noise if that was asked for."""
        check_parameters(self)
        try:
            data = self._read()
            if self.order.startswith("shuffled"):
                reason = re.sub(r"^shuffled with seed \d+, since ", "", self.order)
                data = shuffled(data, self.seed, reason)
        except AbsentError as error:
            if error.source is None and error.problem.partition(" ")[0] != self.name:
                raise AbsentError(error.problem, source=self.name) from None
            raise
        if self.noise and data.clean is None:
            data = with_noise(data, self.noise, self.seed)
        return dataclasses.replace(data, name=self.title())

    def title(self) -> str:
        """The name, and the options that are not the default ones."""
        changed = (
            f"{field.name}={option_text(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        )
        return " ".join([self.name, *changed])

    def is_here(self) -> bool:
        """Whether all files are in the folder YARROW_DATA."""
        return all(file.local() is not None for file in self.files)

    def is_kept(self) -> bool:
        """Whether rows that were read once can be loaded though their files are gone."""
        try:
            self.load()
        except AbsentError:
            return False
        return True

    def can_be_fetched(self) -> bool:
        """Whether files that are absent are fetched."""
        return self.has_fetcher or all(file.url is not None for file in self.files)

    def _read(self) -> Dataset:
        """The rows in the order of the files, before they are shuffled if `order` says so."""
        raise NotImplementedError

    def _dataset(self, X: Any, y: Any, **more: Any) -> Dataset:
        """A Dataset with what was declared; `y` in the order of `X`."""
        labels = np.asarray(y)
        X = X.astype(np.float32, copy=False)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        values: dict[str, Any] = {"order": self.order, "task": task_of(labels), **more}
        return Dataset(self.name, X, labels, source=self.origin, **values)

    def _rows_of(self, classes: Any, y: Any) -> Any:
        """A mask of the rows that `_chosen` will keep, to leave out others early."""
        if classes is None or len(classes) == 1:
            return np.ones(len(y), dtype=bool)
        self._check_known(classes, set(y.tolist()))
        return np.isin(y, classes)

    def _chosen(self, data: Dataset, classes: Any) -> Dataset:
        """`data` with the rows of some classes, or one class told from all others."""
        if classes is None:
            return data
        self._check_known(classes, data.classes)
        wanted = np.asarray(classes)
        if len(wanted) == 1:
            if np.issubdtype(data.y.dtype, np.number):
                y = np.where(data.y == wanted[0], 1, -1)
            else:
                y = np.where(data.y == wanted[0], str(wanted[0]), f"not {wanted[0]}")
            test = None if data.test is None else self._chosen(data.test, classes)
            return dataclasses.replace(data, y=y, task="binary", test=test)
        test = None if data.test is None else self._chosen(data.test, classes)
        kept = data.take(np.isin(data.y, wanted), test=test)
        return dataclasses.replace(kept, task=task_of(kept.y))

    def _check_known(self, classes: Iterable[Any], known: Collection[Any]) -> None:
        for label in classes:
            if label not in known:
                raise ParameterError(
                    f"{self.name} has no class {label!r}; it has "
                    f"{', '.join(map(repr, sorted(known)))}."
                )

    def _parts(self, train: Dataset, test: Dataset, part: str) -> Dataset:
        """One of the parts of a set; the training part has the test part beside it."""
        if part != "all":
            return test if part == "test" else dataclasses.replace(train, test=test)
        return joined([train, test])


@options
class TextSource(Source):
    """A set of texts: by default each word that occurs is a feature of value one."""

    features: Features = features_option()
    stem: bool = flag(
        default=False,
        doc="Leave out stop words and single letters, and cut the others to Porter's stems.",
    )
    unit: bool = flag(default=False, doc="Scale each row to length one.")
    min_documents: int = min_documents_option()

    fields: ClassVar[tuple[str, ...]] = ("label",)
    """What is kept of a document beside its words."""

    def _documents(self) -> Iterator[dict[str, str]]:
        """The documents with these fields and their text."""
        return tsv_documents(self.files[0].read)

    def _counted(self, variant: str = "") -> CountedTexts:
        """The words of all documents, counted; read only if they are not in the cache."""
        bigrams, documents = self.features == "bigrams", self._documents()
        return read_texts(
            self.files[0],
            documents,
            fields=self.fields,
            bigrams=bigrams,
            stem=self.stem,
            variant=variant,
        )

    def _read(self) -> Dataset:
        table = self._counted()
        return self._texts(table, table["label"])

    def _texts(self, table: CountedTexts, y: Any, rows: Any = None) -> Dataset:
        """The rows of a table of counts (all, or those of a mask), without unused columns."""
        counts = table.counts if rows is None else table.counts[rows]
        X, names = used_columns(counts, table.names, self.min_documents)
        labels = y if rows is None else y[rows]
        return self._dataset(finished(X, self.features, self.unit), labels, feature_names=names)


def option_text(value: Any) -> str:
    """An option's value as it is written behind a name.

    >>> option_text((3, 5)), option_text(True), option_text(0.1)
    ('3,5', 'true', '0.1')
    """
    if isinstance(value, tuple | list):
        return shlex.quote(",".join(map(str, value)))
    return str(value).lower() if isinstance(value, bool) else shlex.quote(str(value))


def option_value(name: str, parameter: Parameter, text: str) -> Any:
    """What `option_text` was given."""
    if parameter.kind is None:
        words = text.split(",")
        return None if text == "None" else tuple(int(w) if w.isdigit() else w for w in words)
    if parameter.kind is bool and text in ("true", "false"):
        return text == "true"
    try:
        return text if parameter.kind is bool else parameter.kind(text)
    except ValueError:
        raise ParameterError.of(name, text, parameter.allowed) from None


def options_of(source: type[Source]) -> dict[str, Parameter]:
    """The options of a set, its own first."""
    found = dict(parameters(source))
    common = {name: found.pop(name) for name in ("seed", "noise") if name in found}
    return found | common
