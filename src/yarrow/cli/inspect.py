"""`yarrow inspect`: what a model is, what it has learned, and why it scores a row as it does."""

from __future__ import annotations

import dataclasses
import json
import os
import textwrap
from typing import Any

import click

from yarrow.cli.options import FILE, Command, check_inputs, option, shortened_list

WHAT = "What to show"


@click.command(
    cls=Command, name="inspect", short_help="Settings, sizes, top features; explain a row."
)
@click.argument("model", type=FILE)
@option(WHAT, "--top", type=click.IntRange(min=0), metavar="N", show_default="20, or 5 a class",
        help="How many features with the largest weights.")  # fmt: skip
@option(WHAT, "--label", metavar="CLASS", help="The weights, or the score, of this class.")
@option(WHAT, "--explain", metavar="ROW",
        help="What each feature of a row adds to its score. The row is written as in training, "
        "like '12:1 47:0.5' or '|text cheap pills', or as a JSON object.")  # fmt: skip
@option(
    WHAT,
    "--since",
    type=FILE,
    metavar="OLD",
    help="What changed since this older model: weights, and the rates at which they learn.",
)
@option(WHAT, "--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    model: str,
    top: int | None,
    label: str | None,
    explain: str | None,
    since: str | None,
    as_json: bool,
) -> None:
    """Look inside a saved or an exported MODEL.

    A weight above zero speaks for the class, one below against it. Features of svmlight files
    are numbered as in the files.

      yarrow inspect sms.yarrow --top 10
      yarrow inspect sms.yarrow --explain '{"text": "free entry, call now"}'
      yarrow inspect sms.yarrow --since yesterday.yarrow
    """
    from yarrow.cli.inside import Inside

    check_inputs([model, *([since] if since else [])])
    if since is not None:
        from yarrow.evaluate.difference import diff
        from yarrow.saving.load import load

        difference = diff(load(since), load(model), 20 if top is None else top)
        click.echo(_json(difference) if as_json else str(difference))
        return
    inside = Inside(model)
    if explain is not None:
        explanation = inside.explain(explain, None if label is None else inside.class_named(label))
        click.echo(_json(explanation) if as_json else _explanation_text(explanation))
        return
    if label is not None:
        asked = [inside.class_named(label)]
    elif inside.classes is None:
        asked = [None]
    else:  # of two classes one is the mirror of the other
        asked = inside.classes[1:] if len(inside.classes) == 2 else inside.classes
    count = top if top is not None else 20 if len(asked) == 1 else 5
    features = {name: inside.top_features(count, name) for name in asked}
    about = {"file": model, "bytes": os.path.getsize(model), **inside.about()}
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
            click.echo(f"\nlargest weights{'' if name is None else f' for {name}'}")
            click.echo(_weights_text(pairs))


def _json(value: Any) -> str:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def _about_text(about: dict[str, Any]) -> str:
    """A line a topic, wrapped to the terminal's width."""
    sizes = f"{about['features']:,} features, {about['nonzero']:,} of {about['weights']:,} weights"
    memory = f", {about['memory']:,} bytes of memory" if "memory" in about else ""
    topics = {
        "file": f"{about['file']}, {about['bytes']:,} bytes",
        "learner": about["learner"],
        "parameters": _pairs(about.get("parameters", {})),
        "learned": ", ".join(
            f"{about[x]:,} {x}" for x in ("rows", "updates", "mistakes") if x in about
        ),
        "sizes": f"{sizes} nonzero{memory}",
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


def _explanation_text(explanation: Any) -> str:
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
