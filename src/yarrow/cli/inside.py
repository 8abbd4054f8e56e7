"""What can be read from a model, saved or exported, in one way for both."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

from yarrow.base.explanation import Explanation
from yarrow.base.linear import LinearModel
from yarrow.cli.options import parse_label, shortened_list
from yarrow.errors import DataError, ParameterError
from yarrow.io.formats import TABLE_FORMATS, StreamFormat, text_reader
from yarrow.lazy import np
from yarrow.linear_model import ExportedModel
from yarrow.online.core_stream import errors_named
from yarrow.online.prediction import stream_of
from yarrow.saving.load import load


class Inside:
    """A model file, looked into. Names of svmlight features are as in the files."""

    def __init__(self, path: str) -> None:
        self.model: Any = load(path)
        if not isinstance(self.model, LinearModel | ExportedModel):
            raise ParameterError(
                f"{path}: holds a {type(self.model).__name__}, which has no weights of its own to "
                "show: look at it in Python, by yarrow.load."
            )
        self.exported = isinstance(self.model, ExportedModel)
        stream = stream_of(self.model) or {}
        self.stream_format = StreamFormat(threads=1).remembering(stream)
        self.format = stream.get("format")
        self.base = stream.get("index_base", 0)
        classes = getattr(self.model, "classes_", None)
        self.classes: list[Any] | None = None if classes is None else classes.tolist()

    @property
    def hashed(self) -> bool:
        """Whether features have places instead of names."""
        return not self.exported and bool(self.model.hash_bits)

    def shown(self, name: Any) -> Any:
        """A feature's name as in the files."""
        return name + self.base if isinstance(name, int) and not self.hashed else name

    def class_named(self, text: str) -> Any:
        """The class that a text means."""
        for name in self.classes or ():
            if text == str(name) or parse_label(text) == name:
                return name
        known = (
            "it is a regression"
            if self.classes is None
            else f"it has {shortened_list(self.classes)}"
        )
        raise ParameterError(f"The model has no class {text!r}; {known}.")

    def about(self) -> dict[str, Any]:
        """Settings, counts and sizes."""
        model = self.model
        about: dict[str, Any] = {}
        if self.exported:
            about["learner"] = f"{model.metadata['estimator']}, exported: it only predicts"
        else:
            about |= {"learner": type(model).__name__, "parameters": model.get_params(deep=False)}
            about |= {"rows": model.t_, "updates": model.n_updates_}
        if self.classes is not None and not self.exported:
            about["mistakes"] = model.n_mistakes_
        about["classes"] = self.classes
        about["features"] = len(model.feature_names_)
        about |= {"weights": int(model.coef_.size), "nonzero": int(np.count_nonzero(model.coef_))}
        if not self.exported:
            about["memory"] = model._raw_memory_usage
        about["stream"] = stream_of(model)
        return {name: value for name, value in about.items() if value is not None}

    def top_features(self, n: int, label: Any) -> list[tuple[Any, float]]:
        """The features with the largest weights by size, without those that have none."""
        of_class = {} if self.classes is None else {"label": label}
        found = self.model.top_features(n, **of_class)
        return [(self.shown(name), weight) for name, weight in found if weight]

    def explain(self, text: str, label: Any) -> Explanation:
        """The parts of a row's score for a class, by default for the one predicted."""
        of_class = {} if self.classes is None else {"label": label}
        with errors_named(_Text(text), "svmlight"):
            found: Explanation = self.model.explain_one(self._row(text.strip()), **of_class)
        parts = [
            dataclasses.replace(part, feature=part.feature + self.base)
            if isinstance(part.feature, int)
            else part
            for part in found.contributions
        ]
        return dataclasses.replace(found, contributions=parts)

    def _row(self, text: str) -> dict[Any, Any]:
        """A row written as in training, or as a JSON object."""
        numbered = self.format == "svmlight" or (self.format is None and self._has_numbers())
        if text.startswith("{"):
            row = _object(text)
            if not numbered:
                return row
            text = " ".join(f"{name}:{value}" for name, value in row.items())
        if not numbered and "|" not in text:
            text = f"| {text}"
        format = "svmlight" if numbered else "vw"
        reader = text_reader(_Text(text), format, self.stream_format, labels_optional=True)
        block = reader.next_arrays()
        if block is None:
            raise DataError("there is nothing in it")
        names = block["names"] if "names" in block else block["indices"].tolist()
        by_name = self.format in TABLE_FORMATS and not self.hashed
        if by_name and not set(names) & set(self.model.feature_names_):
            raise DataError("no feature of it is known; write columns as a JSON object")
        return dict(zip(names, block["values"].tolist(), strict=True))

    def _has_numbers(self) -> bool:
        names = self.model.feature_names_
        return bool(names) and all(isinstance(name, int) for name in names)


def _object(text: str) -> dict[str, Any]:
    """What a JSON object holds."""
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise DataError(f"not JSON: {error}") from None
    return found


class _Text(io.BytesIO):
    """A text from the command line as a file."""

    name = "the row to explain"

    def __init__(self, text: str) -> None:
        super().__init__(text.encode())
