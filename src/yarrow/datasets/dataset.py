"""What every set of data is: rows in a stated order, with their labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from yarrow.data.labels import distinct
from yarrow.errors import ParameterError, check_value
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Task = Literal["binary", "multiclass", "regression"]


@dataclasses.dataclass(frozen=True)
class Block:
    """Some rows that follow one another in a stream."""

    X: Any
    """A CSR array."""
    y: NDArray[Any]
    clean: NDArray[Any] | None = None
    """The labels before noise, where noise was added."""
    weights: NDArray[Any] | None = None
    names: list[str] | None = None
    """What each column of `X` means, if that is known."""

    def __len__(self) -> int:
        return len(self.y)


@dataclasses.dataclass(frozen=True)
class Dataset:
    """Rows in their order, and what is known about them.

    Examples
    --------
    >>> from yarrow.datasets import load
    >>> data = load("synthetic/gaussian", rows=500, noise=0.1, seed=1)
    >>> data.X.shape, data.task, len(data)
    ((500, 20), 'binary', 500)
    """

    name: str
    """Of a set that was loaded: what to give to `load` to get the same rows again."""
    X: Any
    """A CSR array of float32, one row an example."""
    y: NDArray[Any]
    """Labels as the set names them, texts or whole numbers; floats for a regression."""
    task: Task
    order: str
    """Which order the rows are in, and why; one sentence."""
    source: str
    """Where the rows come from; one sentence."""
    feature_names: list[str] | None = dataclasses.field(default=None, repr=False)
    clean: NDArray[Any] | None = dataclasses.field(default=None, repr=False)
    """The labels before noise, where noise was added; else None."""
    test: Dataset | None = dataclasses.field(default=None, repr=False)
    """The set's own test part, with the same columns, where it has one."""

    def __post_init__(self) -> None:
        if self.X.shape[0] != len(self.y):
            raise ParameterError(f"{self.name}: {self.X.shape[0]} rows and {len(self.y)} labels.")

    def __len__(self) -> int:
        return len(self.y)

    @property
    def classes(self) -> list[Any]:
        """The labels that occur, sorted; empty for a regression."""
        if self.task == "regression":
            return []
        return distinct(self.y if self.clean is None else self.clean)[0]

    def blocks(self, rows: int = 4096) -> Iterator[Block]:
        """Yield the rows in their order, at most `rows` at a time."""
        check_value(rows >= 1, "rows", rows, ">= 1")
        for start in range(0, len(self), rows):
            part = slice(start, start + rows)
            clean = None if self.clean is None else self.clean[part]
            yield Block(self.X[part], self.y[part], clean, names=self.feature_names)

    def take(self, chosen: Any, **changes: Any) -> Dataset:
        """Return the rows `chosen` (indices, a slice or a mask), with `changes` to the fields."""
        clean = None if self.clean is None else self.clean[chosen]
        return dataclasses.replace(
            self, **{"X": self.X[chosen], "y": self.y[chosen], "clean": clean, **changes}
        )


def with_noise(dataset: Dataset, share: float, seed: int = 0) -> Dataset:
    """Replace each label with probability `share` by another one (Crammer et al. 2013, 5.3, 5.4).

    Labels are drawn one by one and independently: of two classes the other one is taken, of many
    any other one with equal chance. `clean` keeps the labels as they were. The test part is left
    alone.

    >>> from yarrow.datasets import load
    >>> data = with_noise(load("synthetic/gaussian", rows=1000), 0.3, seed=1)
    >>> round(float((data.y != data.clean).mean()), 1)
    0.3
    """
    check_value(0 <= share <= 1, "share", share, "in [0, 1]")
    if dataset.task == "regression":
        raise ParameterError(f"{dataset.name} is a regression; label noise is for classes.")
    if dataset.clean is not None:
        raise ParameterError(f"{dataset.name} has label noise already.")
    _, first, which = distinct(dataset.y)
    labels = dataset.y[first]
    if len(labels) < 2:
        raise ParameterError(f"{dataset.name} has one class only, so no label can be replaced.")
    random = np.random.default_rng((seed, 1))  # other draws than those of a shuffle by `seed`
    replaced = random.random(len(dataset)) < share
    away = random.integers(1, len(labels), len(dataset))  # steps to another class, round the list
    noisy = labels[np.where(replaced, (which + away) % len(labels), which)]
    name = f"{dataset.name} with noise {share:g} of seed {seed}"
    return dataclasses.replace(dataset, name=name, y=noisy, clean=dataset.y)


def shuffled(dataset: Dataset, seed: int, why: str) -> Dataset:
    """Return the rows in an order drawn from `seed`; `why` says what is wrong with their own."""
    order = np.random.default_rng(seed).permutation(len(dataset))
    return dataset.take(order, order=f"shuffled with seed {seed}, since {why}")


def joined(parts: Sequence[Dataset]) -> Dataset:
    """Return the rows of all `parts`, which have the same columns, one after the other."""
    from scipy.sparse import vstack

    X = vstack([part.X for part in parts], format="csr")
    return dataclasses.replace(parts[0], X=X, y=np.concatenate([part.y for part in parts]))


def task_of(y: Any) -> Task:
    """Two classes or many."""
    return "binary" if len(distinct(y)[0]) <= 2 else "multiclass"
