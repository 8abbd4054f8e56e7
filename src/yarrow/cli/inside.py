"""What can be read from a model, saved or exported, in one way for both."""

from __future__ import annotations

import io
import json
from typing import Any

from yarrow.cli.options import parse_label, shortened_list
from yarrow.errors import DataError, ParameterError
from yarrow.lazy import np
from yarrow.linear_model import ExportedModel
from yarrow.linear_model.base import LinearModel
from yarrow.linear_model.inspection import Contribution, Explanation
from yarrow.linear_model.stream_prediction import stream_of
from yarrow.linear_model.streaming import errors_named
from yarrow.loading import load
from yarrow.stream.format import StreamFormat, TableReader, text_reader


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
        self.how = StreamFormat(threads=1).remembering(stream)
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

    def _scores_of(self, label: Any) -> tuple[Any, float, float]:
        """The weights that speak for a class, the sign to read them with, and the intercept."""
        row, sign = 0, 1.0
        if self.classes is not None and label is not None:
            row = self.classes.index(label)
            if len(self.classes) <= 2:
                row, sign = 0, 1.0 if row == len(self.classes) - 1 else -1.0
        weights = np.atleast_2d(self.model.coef_)[row]
        return weights, sign, float(np.atleast_1d(self.model.intercept_)[row])

    def top_features(self, n: int, label: Any) -> list[tuple[Any, float]]:
        """The features with the largest weights by size, without those that have none."""
        weights, sign, _ = self._scores_of(label)
        order = np.argsort(-np.abs(weights), kind="stable")[:n]
        names = self.model.feature_names_
        return [
            (self.shown(names[i]), sign * float(weights[i])) for i in order.tolist() if weights[i]
        ]

    def explain(self, text: str, label: Any) -> Explanation:
        """The parts of a row's score for a class, by default for the one predicted."""
        row = self._row(text)
        if label is None and self.classes is not None:
            label = self.model.predict_one(row)
        weights, sign, intercept = self._scores_of(label)
        learner = self.model._inner if self.exported else self.model
        places = learner._fitted.place(list(row))
        parts = [
            Contribution(self.shown(name), value, sign * float(weights[place]))
            for (name, value), place in zip(row.items(), places, strict=True)
            if place >= 0
        ]
        parts.append(Contribution("(intercept)", 1.0, sign * intercept))
        parts = sorted((p for p in parts if p.amount), key=lambda p: -abs(p.amount))
        return Explanation(label, sum(part.amount for part in parts), parts)

    def _row(self, text: str) -> dict[Any, float]:
        """The features of a row written as in training, or as a JSON object."""
        with errors_named(_Text(text), "svmlight"):
            return self._parsed(text.strip())

    def _parsed(self, text: str) -> dict[Any, float]:
        numbered = self.format == "svmlight" or (self.format is None and self._has_numbers())
        if text.startswith("{") and not numbered:
            return self._table_row(text)
        if text.startswith("{"):
            text = _pairs(text)
        if not numbered and "|" not in text:
            text = f"| {text}"
        format = "svmlight" if numbered else "vw"
        reader = text_reader(_Text(text), format, self.how, labels_optional=True)
        block = reader.next_arrays()
        if block is None:
            raise DataError("there is nothing in it")
        names = block["names"] if "names" in block else block["indices"].tolist()
        return dict(zip(names, block["values"].tolist(), strict=True))

    def _has_numbers(self) -> bool:
        names = self.model.feature_names_
        return bool(names) and all(isinstance(name, int) for name in names)

    def _table_row(self, text: str) -> dict[Any, float]:
        line = _Text(text.replace("\n", " "))
        for rows in TableReader(line, line, "jsonl", self.how, labels=False):
            return next(rows.dicts())
        raise DataError("there is nothing in it")


def _pairs(text: str) -> str:
    """A JSON object as `index:value`."""
    try:
        return " ".join(f"{name}:{value}" for name, value in json.loads(text).items())
    except ValueError as error:
        raise DataError(f"not JSON: {error}") from None


class _Text(io.BytesIO):
    """A text from the command line as a file."""

    name = "the row to explain"

    def __init__(self, text: str) -> None:
        super().__init__(text.encode())
