"""`yarrow inspect`: what a model is, what it has learned, and why it scores a row as it does."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import textwrap
from typing import TYPE_CHECKING, Any

import click

from yarrow.cli.options import FILE, Command, check_inputs, option, parse_label, shortened_list
from yarrow.errors import DataError, ParameterError, counted
from yarrow.lazy import np

if TYPE_CHECKING:
    from yarrow.base.explanation import Explanation

WHAT = "What to show"


@click.command(
    cls=Command, name="inspect", short_help="Hyper-parameters, sizes, top features; explain a row."
)
@click.argument("model", type=FILE)
@option(WHAT, "--top", type=click.IntRange(min=0), metavar="N", show_default="20, or 5 a class",
        help="Number of features with the largest weights.")  # fmt: skip
@option(WHAT, "--label", metavar="CLASS", help="The weights, or the score, of this class.")
@option(WHAT, "--explain", metavar="ROW",
        help="Contribution of each feature of a row to its score. Written as in training, "
        "like '12:1 47:0.5' or '|text cheap pills', or as a JSON object.")  # fmt: skip
@option(WHAT, "--since", type=FILE, metavar="OLD", help="What changed since this older model: "
        "weights, and the rates at which they learn.")  # fmt: skip
@option(WHAT, "--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    model: str,
    top: int | None,
    label: str | None,
    explain: str | None,
    since: str | None,
    as_json: bool,
) -> None:
    """Show the hyper-parameters, sizes and largest weights of a saved or an exported MODEL.

    A positive weight speaks for the class, a negative one against it. Features of svmlight
    files are numbered as in the files.

      yarrow inspect sms.yarrow --top 10
      yarrow inspect sms.yarrow --explain '{"text": "free entry, call now"}'
      yarrow inspect sms.yarrow --since yesterday.yarrow
    """
    check_inputs([model, *([since] if since else [])])
    if since is not None:
        from yarrow.evaluate.difference import diff
        from yarrow.saving.export_file import load

        difference = diff(load(since), load(model), 20 if top is None else top)
        click.echo(_json(difference) if as_json else str(difference))
        return
    file = _ModelFile(model)
    if explain is not None:
        explanation = file.explain(explain, None if label is None else file.class_named(label))
        click.echo(_json(explanation) if as_json else _explanation_text(explanation))
        return
    if label is not None:
        asked = [file.class_named(label)]
    elif file.classes is None:
        asked = [None]
    else:  # of two classes one is the mirror of the other
        asked = file.classes[1:] if len(file.classes) == 2 else file.classes
    count = top if top is not None else 20 if len(asked) == 1 else 5
    features = {name: file.top_features(count, name) for name in asked}
    about = {"file": model, "bytes": os.path.getsize(model), **file.about()}
    if as_json:
        weights = [
            {"class": name, "features": [list(pair) for pair in pairs]}
            for name, pairs in features.items()
        ]
        click.echo(_json(about | {"top_features": weights}))
        return
    click.echo(_about_text(about))
    for name, pairs in features.items():
        if pairs:
            of_what = "" if file.weights_predict else " of the straight part (--explain has all)"
            click.echo(f"\nlargest weights{of_what}{'' if name is None else f' for {name}'}")
            click.echo(_weights_text(pairs))


class _ModelFile:
    """What can be read from a model, saved or exported, in one way for both.

    Names of svmlight features are as in the files.
    """

    def __init__(self, path: str) -> None:
        from yarrow.base.linear import LinearModel
        from yarrow.io.formats import StreamFormat
        from yarrow.linear_model import ExportedModel
        from yarrow.online.prediction import stream_of
        from yarrow.saving.export_file import load

        self.model: Any = load(path)
        if not isinstance(self.model, LinearModel | ExportedModel):
            raise ParameterError(
                f"{path}: holds a {type(self.model).__name__}, which has no weights of its own to "
                "show: use yarrow.load in Python."
            )
        self.exported = isinstance(self.model, ExportedModel)
        self.stream = stream_of(self.model)
        stream = self.stream or {}
        self.stream_format = StreamFormat(threads=1).remembering(stream)
        self.format = stream.get("format")
        self.base = stream.get("index_base", 0)
        classes = getattr(self.model, "classes_", None)
        self.classes: list[Any] | None = None if classes is None else classes.tolist()

    @property
    def weights_predict(self) -> bool:
        """Whether a score is a sum of weight times value."""
        return self.exported or type(self.model).has_weight_table

    @property
    def hashed(self) -> bool:
        """Whether features have places instead of names."""
        return not self.exported and bool(self.model.hash_bits)

    def _as_in_files(self, name: Any) -> Any:
        return name + self.base if isinstance(name, int) else name

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
        if hasattr(model, "coef_"):
            nonzero = int(np.count_nonzero(model.coef_))
            about |= {"weights": int(model.coef_.size), "nonzero": nonzero}
        else:
            experts = model.metadata["experts"]
            about["experts"] = {expert["name"]: round(expert["weight"], 4) for expert in experts}
        if not self.exported:
            about["memory"] = model._raw_memory_usage
        about["stream"] = self.stream
        return {name: value for name, value in about.items() if value is not None}

    def top_features(self, n: int, label: Any) -> list[tuple[Any, float]]:
        """The features with the largest weights by size, without those that have none."""
        if not hasattr(self.model, "top_features"):
            return []  # an exported mixture: its numbers are no weights of features
        found = self.model.top_features(n, **self._of_class(label))
        pairs = [(name, weight) for name, weight in found if weight]
        if self.hashed:
            return pairs
        return [(self._as_in_files(name), weight) for name, weight in pairs]

    def explain(self, text: str, label: Any) -> Explanation:
        """The parts of a row's score for a class, by default for the one predicted."""
        from yarrow.io.formats import errors_named
        from yarrow.io.row_reader import row_for
        from yarrow.io.unknown_features import warn_of_unknown

        with errors_named(_Text(text), "svmlight"):
            row = self._row(text.strip())
            learner = getattr(self.model, "_inner", self.model)
            warn_of_unknown(learner._fitted, list(row_for(learner, row)))
            found: Explanation = self.model.explain_one(row, **self._of_class(label))
        parts = [  # a row has names, whether the model hashes them or not
            dataclasses.replace(part, feature=self._as_in_files(part.feature))
            for part in found.contributions
        ]
        return dataclasses.replace(found, contributions=parts)

    def _of_class(self, label: Any) -> dict[str, Any]:
        return {} if self.classes is None else {"label": label}

    def _row(self, text: str) -> dict[Any, Any]:
        """A row written as in training, or as a JSON object."""
        from yarrow.io.formats import TABLE_FORMATS, text_reader

        names = self.model.feature_names_ if self.format is None else ()
        are_numbers = bool(names) and all(isinstance(name, int) for name in names)
        numbered = self.format == "svmlight" or are_numbers
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
            raise DataError("it is empty")
        names = block["names"] if "names" in block else block["indices"].tolist()
        by_name = self.format in TABLE_FORMATS and not self.hashed
        if by_name and not set(names) & set(self.model.feature_names_):
            raise DataError("none of its features is known; write columns as a JSON object")
        return dict(zip(names, block["values"].tolist(), strict=True))


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


def _json(value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _about_text(about: dict[str, Any]) -> str:
    """A line a topic, wrapped to the terminal's width."""
    sizes = f"{about['features']:,} features"
    if "weights" in about:
        sizes += f", {about['nonzero']:,} of {about['weights']:,} weights nonzero"
    memory = f", {about['memory']:,} bytes of memory" if "memory" in about else ""
    topics = {
        "file": f"{about['file']}, {about['bytes']:,} bytes",
        "learner": about["learner"],
        "parameters": _pairs(about.get("parameters", {})),
        "learned": ", ".join(
            counted(about[f"{x}s"], x) for x in ("row", "update", "mistake") if f"{x}s" in about
        ),
        "sizes": f"{sizes}{memory}",
        "experts": "; ".join(f"{n} x {w:g}" for n, w in about.get("experts", {}).items()),
        "classes": shortened_list(about.get("classes", [])),
        "stream": _pairs(about.get("stream", {})),
    }
    width = max(30, click.HelpFormatter(max_width=100).width - 12)
    lines = []
    for topic, text in topics.items():
        if text:
            wrapped = textwrap.fill(text, width, break_on_hyphens=False)
            lines.append(f"{topic:<12}" + wrapped.replace("\n", "\n" + " " * 12))
    return "\n".join(lines)


def _pairs(values: dict[str, Any]) -> str:
    flat = {name: value for name, value in values.items() if not isinstance(value, dict)}
    for inner in (value for value in values.values() if isinstance(value, dict)):
        flat |= inner
    return ", ".join(
        f"{name}={shortened_list(value) if isinstance(value, list | tuple) else value}"
        for name, value in flat.items()
    )


def _weights_text(pairs: list[tuple[Any, float]]) -> str:
    largest = max(abs(weight) for _, weight in pairs) or 1.0
    return "\n".join(
        f"  {weight:>+10.4f}  {'▇' * max(1, round(20 * abs(weight) / largest)):<20}  {name}"
        for name, weight in pairs
    )


def _explanation_text(explanation: Explanation) -> str:
    from yarrow.base.explanation import NO_SUM

    whose = "" if explanation.label is None else f" for {explanation.label}"
    lines = [f"score {explanation.score:+.4f}{whose}"]
    if not explanation.adds_up:
        lines.append(NO_SUM)
    for part in explanation.contributions:
        lines.append(
            f"  {part.value * part.weight:>+10.4f}  = {part.value:g} x {part.weight:+.4f}"
            f"  {part.feature}"
        )
    return "\n".join(lines)
