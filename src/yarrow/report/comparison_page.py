"""One HTML page that shows a comparison, works offline and asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from yarrow import __version__
from yarrow.errors import counted
from yarrow.lazy import resource
from yarrow.report import charts, numbers, tables
from yarrow.report import comparison_queries as queries
from yarrow.report.figures import Figure, css, escape

if TYPE_CHECKING:
    from yarrow.compare import Comparison

_WIDE, _NARROW = 900, 360
#: what a chart function gives: a figure and the sentence below it
Shown = tuple[Figure, str]


def page(comparison: Comparison) -> str:
    """The whole page as text: style, script and figures are inside it.

    Write it with ``Path("out.html").write_text(page(comparison), encoding="utf-8")``.
    """
    name = str(comparison.data.get("name", "the data"))
    title = f"Which learner for {name}?"
    sections = _sections(comparison)
    links = "".join(f'<li><a href="#{key}">{escape(head)}</a></li>' for key, head, _ in sections)
    body = "\n".join(
        f'<section id="{key}" aria-labelledby="{key}-head">\n'
        f'<h2 id="{key}-head">{escape(head)}</h2>\n{content}\n</section>'
        for key, head, content in sections
    )
    script = resource("yarrow.report", "page.js")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">
<title>{escape(title)}</title>
<style>
{css()}{resource("yarrow.report", "page.css")}</style>
</head>
<body>
<header><div>
<h1>{escape(title)}</h1>
<p class="soft">{escape(_subtitle(comparison))}</p>
<nav aria-label="Parts of this page"><ul>{links}</ul></nav>
</div></header>
<main>
{body}
</main>
<script>{script}</script>
</body>
</html>
"""


def _sections(comparison: Comparison) -> list[tuple[str, str, str]]:
    """Key, heading and content of each part that has something to show."""

    def chart(draw: Callable[[Comparison, float], Shown | None]) -> str:
        return _at_two_widths(lambda width: draw(comparison, width))

    measure = "Error" if queries.is_regression(comparison) else "Accuracy"
    curves = chart(charts.learning_curves) + chart(charts.error_by_stretch)
    parts = [
        ("recommendation", "Recommendation", _recommendation(comparison)),
        ("learners", "Learners", _learners(comparison)),
        ("curves", "Learning curves", curves),
        ("nonzeros", f"{measure} against nonzeros", chart(charts.against_nonzeros)),
        ("time", f"{measure} against time", chart(charts.against_seconds)),
        ("confusion", "What it confuses", _in_one_width(charts.confusions(comparison))),
        ("calibration", "Are its probabilities honest?", _calibration(comparison)),
        ("ranks", "Mean ranks", _in_one_width(charts.mean_ranks(comparison))),
        ("settings", "All settings tried", _all_settings(comparison)),
        ("failed", "Did not finish", _table(tables.failed(comparison), "Did not finish")),
        ("data", "Data and protocol", _data(comparison)),
        ("again", "Do it again", _again(comparison)),
        ("next", "What to run next", _next(comparison)),
    ]
    return [part for part in parts if part[2]]


def _subtitle(comparison: Comparison) -> str:
    learned = [item for item in comparison.outcomes if not queries.is_baseline(item)]
    learners = len({item.learner for item in learned})
    return (
        f"{counted(len(learned), 'setting')} of {counted(learners, 'learner')} compared on"
        f" {counted(comparison.data.get('rows', 0), 'row')} in"
        f" {numbers.duration(comparison.seconds)}."
    )


def _recommendation(comparison: Comparison) -> str:
    said = comparison.recommendation
    chosen = queries.recommended(comparison)
    evidence = "".join(f"<li>{_prose(sentence)}</li>" for sentence in said.get("evidence", []))
    answer = said.get("sentence") or "There is nothing to recommend."
    card = f'<p class="answer">{_prose(answer)}</p>{_warning(comparison)}'
    card += f"<ul>{evidence}</ul>" if evidence else ""
    rivals = _at_two_widths(lambda width: charts.rivals(comparison, width))
    return f'<div class="card">{card}{rivals}</div>{_tiles(comparison) if chosen else ""}'


def _warning(comparison: Comparison) -> str:
    """What must not be overlooked: a rule that learns nothing is ahead."""
    first = next(iter(queries.contenders(comparison)), None)
    if first is None or not queries.is_baseline(first):
        return ""
    if comparison.recommendation.get("too_few_rows"):
        return ""
    regression = queries.is_regression(comparison)
    error = queries.error_text(queries.judged_error(first, regression), regression)
    text = f"No learner beats “{first.learner}”, which learns nothing: {error}."
    return f'<p class="warning"><strong>Mind:</strong> {_prose(text)}</p>'


def _tiles(comparison: Comparison) -> str:
    """The recommended learner in a few numbers."""
    chosen = queries.recommended(comparison)
    if chosen is None:
        return ""
    regression = queries.is_regression(comparison)
    error = queries.error(chosen, regression)
    a_row = numbers.duration(chosen.seconds / chosen.rows) if chosen.rows else ""
    word = queries.error_word(regression)
    half = queries.judged_text(chosen, regression).partition(" (")[0]
    tiles = [
        (f"{word}, all rows", queries.error_text(error, regression)),
        *([(f"{word}, 2nd half", half)] if half else []),
        ("settings", queries.settings(chosen)),
        ("nonzero weights", numbers.count(chosen.nonzeros)),
        (f"learning time, {a_row} a row", numbers.duration(chosen.seconds)),
    ]
    said = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in tiles)
    return f'<dl class="tiles">{said}</dl>'


def _learners(comparison: Comparison) -> str:
    note = (
        "The setting of each learner that did best on the first half of the rows, in the order of"
        " errors on the second half; intervals are 95 %, those of differences for all rivals"
        " together. Time is the learner's own on one core, without reading the data; updates are"
        " rows that changed the model."
    )
    return _explained(note, tables.learners(comparison), "Table of learners")


def _calibration(comparison: Comparison) -> str:
    chart = _at_two_widths(lambda width: charts.calibration(comparison, width))
    note = (
        "Of the recommended learner and those closest to it that have probabilities. Brier score"
        " and log loss: less is better; the calibration error is the mean distance from the"
        " diagonal."
    )
    return _explained(note, tables.calibration(comparison), "Table of calibration", chart)


def _explained(note: str, table: tables.Table, label: str, chart: str = "") -> str:
    """A table below a note, if it has rows."""
    return f'{chart}<p class="soft">{note}</p>{_table(table, label)}' if table.rows else ""


def _all_settings(comparison: Comparison) -> str:
    table = tables.all_settings(comparison)
    baselines = sum(map(queries.is_baseline, queries.ordered(comparison)))
    count = counted(len(table.rows) - baselines, "setting")
    count += f" and {counted(baselines, 'baseline')}" if baselines else ""
    summary = f"<summary>{count}, fewest errors over all rows first</summary>"
    return f"<details>{summary}{_table(table, count)}</details>" if table.rows else ""


def _data(comparison: Comparison) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(word.text)}</th><td>{escape(text.text)}</td></tr>'
        for word, text in tables.facts(comparison).rows
    )
    protocol = f"<p>{escape(comparison.protocol)}</p>" if comparison.protocol else ""
    return f'{protocol}<table class="facts"><tbody>{rows}</tbody></table>'


def _again(comparison: Comparison) -> str:
    versions = (
        f"Compared by Yarrow {comparison.yarrow}, seed {comparison.seed}."
        f" Page made by Yarrow {__version__} with Python {platform.python_version()}."
    )
    return f'<pre tabindex="0">{escape(comparison.command)}</pre><p>{escape(versions)}</p>'


def _next(comparison: Comparison) -> str:
    said = comparison.recommendation
    steps = [said[key] for key in ("command", "python") if key in said]
    return "".join(f'<pre tabindex="0">{escape(step)}</pre>' for step in steps)


def _in_one_width(shown: Shown | None) -> str:
    """A figure that cannot be made narrow: it may be moved sideways."""
    if shown is None:
        return ""
    figure, note = shown
    return (
        '<figure><div class="scroll" tabindex="0" role="region"'
        f' aria-label="{escape(figure.title)}">{figure.inline()}</div>'
        f"<figcaption>{_prose(note)}</figcaption></figure>"
    )


def _at_two_widths(draw: Callable[[float], Shown | None]) -> str:
    """The same figure for a screen and for a phone; the style shows one of them."""
    parts = []
    for look, width in (("wide", _WIDE), ("narrow", _NARROW)):
        shown = draw(width)
        if shown is None:
            return ""
        figure, note = shown
        caption = f"<figcaption>{_prose(note)}</figcaption>" if note else ""
        parts.append(f'<figure class="{look}">{figure.inline()}{caption}</figure>')
    return "\n".join(parts)


def _table(table: tables.Table, label: str) -> str:
    if not table.rows:
        return ""
    looks = [' class="number"' if table.is_number(i) else "" for i in range(len(table.header))]
    head = "".join(
        f'<th scope="col"{look}>{escape(text)}</th>'
        for text, look in zip(table.header, looks, strict=True)
    )
    stress = {True: ' class="strong"', False: ""}
    rows = "\n".join(
        f"<tr{stress[i in table.strong]}>{_cells(row, looks)}</tr>"
        for i, row in enumerate(table.rows)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="sortable"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cells(row: Sequence[tables.Cell], looks: Sequence[str]) -> str:
    return "".join(
        f"<td{look}{_key(cell)}>{escape(cell.text)}</td>"
        for cell, look in zip(row, looks, strict=True)
    )


def _key(cell: tables.Cell) -> str:
    """What a script sorts by; JavaScript says Infinity where Python says inf."""
    if cell.key is None:
        return ""
    return f' data-key="{str(float(cell.key)).replace("inf", "Infinity")}"'


def _prose(text: object) -> str:
    """A sentence whose percent signs stay with their numbers."""
    return escape(text).replace(" %", "&nbsp;%")


def _policy(script: str) -> str:
    """What a browser may do with this page: run this one script, fetch nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline';"
        f" script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
