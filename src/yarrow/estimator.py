"""What every estimator shares: parameters, cloning, and the manners of scikit-learn and river.

Both libraries are met by duck typing. Inheriting from either would make `import yarrow` import it,
and each library's base class fails the other's checks.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` itself is ten times as slow
import contextlib
import copy
import dataclasses
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from yarrow._core import Lock, check_new_class
from yarrow.errors import not_fitted
from yarrow.lazy import np
from yarrow.notebook import shown
from yarrow.parameters import (
    anything,
    check_parameters,
    choice,
    flag,
    integer,
    number,
    parameters,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

T = TypeVar("T", bound=type)


@dataclass_transform(field_specifiers=(anything, choice, flag, integer, number))
def estimator(cls: T) -> T:
    """Make a class with declared parameters an estimator: its `__init__` only stores them."""
    made: Any = dataclasses.dataclass(eq=False, repr=False)(cls)
    made.__doc__ = Docstring(made.__doc__)
    return made  # type: ignore[no-any-return]


class Docstring:
    """In the place of a class's `__doc__`: what stands there, and what is declared beside it.

    It is made when somebody asks for it, as `help` does, since that takes longer than an import.
    """

    def __init__(self, written: str | None) -> None:
        self.written = written or ""

    def __get__(self, instance: object, cls: type | None = None) -> str:
        from yarrow.docstrings import docstring

        return docstring(cls or type(instance))


class Estimator:
    """Base of all estimators."""

    #: names of river's base classes that instances count as
    river_bases: ClassVar[tuple[str, ...]] = ("Estimator",)
    #: predicts values, not classes
    regression: ClassVar[bool] = False
    #: learns rows one by one, each with a label, or a value, or by itself
    learns_rows: ClassVar[bool] = False
    #: a row costs more than its values; the more, the more rows there have been
    is_dear: ClassVar[bool] = False
    grows_with_rows: ClassVar[bool] = False
    #: the attribute that is there once anything has been learned; "": there is nothing to learn
    _learned_as: ClassVar[str] = ""
    #: checks of scikit-learn that cannot hold, with the reason
    expected_failed_checks: ClassVar[dict[str, str]] = {}
    #: why that of class weights cannot, if so
    class_weight_fails: ClassVar[str] = ""
    #: tags of scikit-learn that are not the usual ones, such as "input_tags.sparse"
    sklearn_tags: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        """What cannot hold for a base cannot hold for what is made of it."""
        super().__init_subclass__(**more)
        bases = [vars(base).get("expected_failed_checks", {}) for base in cls.__mro__[::-1]]
        cls.expected_failed_checks = {name: why for base in bases for name, why in base.items()}
        if cls.class_weight_fails:
            cls.expected_failed_checks["check_class_weight_classifiers"] = cls.class_weight_fails
        for method in ("fit", "partial_fit", "score"):
            name = f"set_{method}_request"
            if not hasattr(cls, name) and _metadata_of(cls, method):
                setattr(cls, name, _request(method))

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters and their values; `deep`, those of a learner inside as `learner__r`, too."""
        found = {name: getattr(self, name) for name in parameters(self)}
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}__{inner}": it for inner, it in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters; they are checked when learning starts.

        `learner__r` is the parameter `r` of the learner inside, as grid searches name it.
        """
        known = parameters(self)
        own = {name: value for name, value in params.items() if name in known}
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            if name not in known:
                if not inner or not hasattr(own.get(outer, getattr(self, outer, 0)), "set_params"):
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {type(self).__name__}. "
                        f"Valid parameters are: {sorted(self.get_params() | own)}."
                    )
                nested.setdefault(outer, {})[inner] = value
        for name, value in own.items():
            setattr(self, name, value)
        for name, values in nested.items():
            getattr(self, name).set_params(**values)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return not self._learned_as or self._learned_as in self.__dict__

    def _check_fitted(self) -> None:
        """Raise `NotFittedError` if nothing has been learned."""
        if not self.__sklearn_is_fitted__():
            not_fitted(self)

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _changed(self) -> dict[str, str]:
        """Parameters that have not their defaults, as Python writes them."""
        return {
            field.name: repr(getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.name in parameters(self)
            and repr(getattr(self, field.name)) != repr(field.default)
        }

    def __repr__(self) -> str:
        changed = [f"{name}={value}" for name, value in self._changed().items()]
        return f"{type(self).__name__}({', '.join(changed)})"

    # -- scikit-learn --------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        tags = Tags(None, TargetTags(required=False), input_tags=InputTags(sparse=True))
        for base in type(self).__mro__[::-1]:
            for name, value in vars(base).get("sklearn_tags", {}).items():
                *inner, last = name.split(".")
                setattr(functools.reduce(getattr, inner, tags), last, value)
        return tags

    def _get_doc_link(self) -> str:
        return ""  # scikit-learn's HTML display asks for it

    def _repr_html_(self) -> str:
        """The parameters, those that were changed first, and what was learned."""
        changed = {name: str(value) for name, value in self._changed().items()}
        default = {name: repr(value) for name, value in self.get_params(deep=False).items()}
        return shown(repr(self), [*self._summary().items(), *(changed | default | changed).items()])

    def _summary(self) -> dict[str, str]:
        """What was learned, in a few words."""
        if not getattr(self, "__sklearn_is_fitted__", lambda: False)():
            return {"learned": "nothing yet"}
        found = {}
        for name in ("t_", "n_updates_", "n_mistakes_", "n_nonzero_", "classes_", "n_features_in_"):
            with contextlib.suppress(AttributeError):
                value = getattr(self, name)
                found[name] = f"{value:,}" if isinstance(value, int) else repr(value.tolist())[:200]
        return found

    # What scikit-learn calls metadata: `sample_weight` and the like, which its tools hand on to
    # those who ask for them, once that is switched on (`enable_metadata_routing`).

    def get_metadata_routing(self) -> Any:
        """Which metadata methods ask for, as scikit-learn's tools want to know."""
        from sklearn.utils.metadata_routing import MetadataRequest

        kept = self.__dict__.get("_metadata_request")
        if kept is not None:
            return copy.deepcopy(kept)
        request = MetadataRequest(owner=type(self).__name__)
        for method in ("fit", "partial_fit", "score"):
            for name in _metadata_of(type(self), method):
                getattr(request, method).add_request(param=name, alias=None)
        return request

    # -- river ---------------------------------------------------------------------------------

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class; isinstance() asks for it, and then river's base classes must know ours.

        river may be imported after this package, so there is no better moment to register.
        """
        cls = type(self)
        if "river.base" in sys.modules:
            _register_with_river(cls)  # type: ignore[arg-type]
        return cls

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}

    @classmethod
    def _unit_test_skips(cls) -> set[str]:
        return set()

    def _get_params(self) -> dict[str, Any]:
        return self.get_params(deep=False)

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Self:
        """A fresh estimator with the same parameters, which has learned nothing."""
        if include_attributes:
            twin = copy.deepcopy(self)
            return twin.set_params(**(new_params or {}))
        return type(self)(**(copy.deepcopy(self.get_params(deep=False)) | (new_params or {})))

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Refused: what has been learned belongs to the parameters it was learned with."""
        for name in new_attrs:
            raise ValueError(f"{name!r} is not a mutable attribute of {type(self).__name__}")

    _mutable_attributes: ClassVar[set[str]] = set()
    _is_stochastic: ClassVar[bool] = False
    _tags: ClassVar[set[str]] = set()
    _supervised: ClassVar[bool] = True

    @property
    def _raw_memory_usage(self) -> int:
        return sys.getsizeof(self)

    @property
    def _memory_usage(self) -> str:
        size = float(self._raw_memory_usage)
        for unit in ("B", "KiB", "MiB"):
            if size < 1024:
                return f"{size:.2f} {unit}"
            size /= 1024
        return f"{size:.2f} GiB"

    def __or__(self, other: Any) -> Any:
        from river import compose

        return compose.Pipeline(self, other)

    def __ror__(self, other: Any) -> Any:
        from river import compose

        return compose.Pipeline(other, self)


def _metadata_of(cls: type, method: str) -> list[str]:
    """The parameters of a method beside the rows and their labels."""
    known = getattr(cls, method, None)
    names = [] if known is None else list(inspect.signature(known).parameters)
    return [name for name in names if name not in ("self", "X", "y")]


def _request(method: str) -> Callable[..., Any]:
    def request(self: Any, **requests: bool | str | None) -> Any:
        import sklearn

        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "Metadata is handed on only after sklearn.set_config(enable_metadata_routing=True)."
            )
        unknown = requests.keys() - set(_metadata_of(type(self), method))
        if unknown:
            raise TypeError(f"{method} takes no {', '.join(sorted(unknown))}.")
        routing = self.get_metadata_routing()
        for name, wanted in requests.items():
            getattr(routing, method).add_request(param=name, alias=wanted)
        self._metadata_request = routing
        return self

    request.__name__ = f"set_{method}_request"
    request.__doc__ = f"Ask scikit-learn's tools for metadata in `{method}`: sample_weight=True."
    return request


class uninterrupted:
    """Ctrl-C waits until a row is learned; the second one does not.

    For changes so short that a copy would cost more than they do. Only the main thread is ever
    interrupted. (As a generator it would leave its work half done itself.)
    """

    __slots__ = ("_came", "_handler")

    def __enter__(self) -> None:
        self._handler: Any = None
        self._came: tuple[Any, ...] | None = None
        if threading.current_thread() is threading.main_thread():
            self._handler = _signal.getsignal(_signal.SIGINT)
            if callable(self._handler):
                _signal.signal(_signal.SIGINT, self._note)

    def _note(self, *signal_and_frame: Any) -> None:
        if self._came is not None:
            self._handler(*signal_and_frame)
        self._came = signal_and_frame

    def __exit__(self, *_: object) -> None:
        if callable(self._handler):
            _signal.signal(_signal.SIGINT, self._handler)
            if self._came is not None:
                self._handler(*self._came)


class Shared:
    """What threads may share: one lock, and changes that are whole or have not been.

    Who learns, asks, saves or copies holds `_lock`; a fork waits until nobody does. A change is
    made to a copy, whose new values take the place of the old ones in one step: neither an error
    nor an interrupt leaves half of it. Where a copy would cost more than the change, what the
    change touches is put back instead.
    """

    @property
    def _lock(self) -> Lock:
        lock: Lock | None = self.__dict__.get("_lock_")
        return self.__dict__.setdefault("_lock_", Lock()) if lock is None else lock

    def _contents(self) -> dict[str, Any]:
        """All that is here but the lock, which belongs to one object of one process."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock_"}

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:  # a copy: other threads may learn while this one is written
            return copy.deepcopy(self._contents())

    def _twin(self) -> Self:
        """One that holds the same things: what is changed of it must be replaced."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self._contents())
        return twin

    def _snapshot(self) -> Self:
        """As it is at one moment, whatever other threads learn meanwhile."""
        with self._lock:
            return self._twin()

    def _change(self, change: Callable[[Self], Any]) -> Any:
        """Change all or nothing; what `change` answers."""
        with self._lock:
            twin = self._twin()
            answer = change(twin)
            own = self.__dict__
            own.update({k: v for k, v in twin._contents().items() if own.get(k, own) is not v})
        return answer


class LearnsArrays:
    """What arrays and data frames leave behind: their columns, and the passes over them."""

    expected_failed_checks: ClassVar[dict[str, str]] = {
        f"check_sample_weight_equivalence_on_{kind}_data": (
            "an online learner that sees a row twice is not one that sees it once with weight two"
        )
        for kind in ("dense", "sparse")
    }
    _n_features_in: int
    _feature_names_in: list[str] | None
    _n_iter: int
    #: how the rows were read that it has learned; see `StreamFormat.described`
    _stream: dict[str, Any] | None = None

    def _keep_columns(self: Any, rows: Any) -> None:
        """The first array that is learned says what columns later ones have."""
        if self.__sklearn_is_fitted__():
            self._keep_stream(rows)
            if self.__dict__.get("_n_features_in") is None:
                self.__dict__.update(columns_of(rows))

    def _keep_stream(self, rows: Any) -> None:
        """Remember how the columns of rows that were learned became features."""
        if rows.stream is not None:
            self._stream = rows.stream

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the arrays that were learned; not set by dict rows."""
        if self.__dict__.get("_n_features_in") is None:
            raise AttributeError("n_features_in_ is set by the first array that is learned")
        return int(self._n_features_in)

    @property
    def feature_names_in_(self) -> Any:
        """Column names of the data frames, or of the table in a file, that were learned."""
        names = self.__dict__.get("_feature_names_in") or columns_in(self._stream)
        if not names:
            raise AttributeError("feature_names_in_ is set by the first data frame that is learned")
        return np.asarray(names, dtype=object)

    @property
    def n_iter_(self) -> int:
        """Passes made by the last `fit`."""
        if "_n_iter" not in self.__dict__:
            raise AttributeError("n_iter_ is set by fit")
        return int(self._n_iter)


class ClassifierMixin:
    """What both libraries ask of every classifier; probabilities only where they mean something."""

    river_bases: ClassVar[tuple[str, ...]] = ("Classifier", "MiniBatchClassifier")
    #: in the docstrings of those that show none of their own
    example: ClassVar[str] = """>>> model = {name}()
>>> for _ in range(5):
...     model.learn_one({{"cheap": 1, "pills": 1}}, "spam")
...     model.learn_one({{"lunch": 1, "today": 1}}, "ham")
>>> model.predict_one({{"pills": 1}})
'spam'"""

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        tags.target_tags.required = True
        return tags

    _multiclass: ClassVar[bool] = True

    def _check_new_class(self: Any, label: Any, known: int) -> None:
        """Refuse a class beyond `max_classes`."""
        if self.classes is None:
            check_new_class(label, known, self.max_classes)

    @staticmethod
    def _decision(scores: Array, mirrored: bool) -> Array:
        """What `decision_function` gives of a column a class: one column where there are two.

        `mirrored`: the scores of two classes are each other's negatives.
        """
        if scores.shape[1] == 1:
            return -np.abs(scores[:, 0])  # only one class is known
        if scores.shape[1] > 2:
            return scores
        return np.ascontiguousarray(scores[:, 1] if mirrored else scores[:, 1] - scores[:, 0])

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy."""
        right = np.asarray(self.predict(X)) == np.asarray(y)
        return float(np.average(right, weights=sample_weight))

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """Refused, in river's way: these scores are not probabilities."""
        raise NotImplementedError(f"{type(self).__name__} does not predict probabilities")

    def predict_proba_many(self, X: Any) -> Any:
        """Refused, in river's way: these scores are not probabilities."""
        raise NotImplementedError(f"{type(self).__name__} does not predict probabilities")


class RegressorMixin:
    """What both libraries ask of every regressor."""

    regression: ClassVar[bool] = True
    river_bases: ClassVar[tuple[str, ...]] = ("Regressor", "MiniBatchRegressor")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.required = True
        return tags

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, R²."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones_like(y) if sample_weight is None else np.asarray(sample_weight)
        return determination(y, self.predict(X), weights)


def determination(y: Any, predicted: Any, weights: Any) -> float:
    """R² of predictions."""
    residual = np.sum(weights * (y - predicted) ** 2)
    total = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
    return float(1 - residual / total) if total > 0 else float(residual == 0)


def columns_in(stream: dict[str, Any] | None) -> list[str]:
    """The columns of a table that made features, as a model remembers them."""
    table = (stream or {}).get("table", {})
    special = {table.get("label"), table.get("weight"), *table.get("drop", ())}
    return [name for name in table.get("known", ()) if name not in special]


def columns_of(rows: Any) -> dict[str, Any]:
    """What is kept of the columns of an array or a frame; dicts and texts have none."""
    number, names = rows.n_columns, rows.names
    if rows.made_of is not None:
        number, names = len(rows.made_of) or None, rows.made_of or None
    kept = {"_n_features_in": number, "_feature_names_in": names}
    return kept if rows.stream is None else kept | {"_stream": rows.stream}


@functools.cache
def _register_with_river(cls: type[Estimator]) -> None:
    from river import base

    for name in cls.river_bases:
        getattr(base, name).register(cls)
