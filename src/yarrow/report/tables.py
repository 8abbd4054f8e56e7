"""Tables of a comparison: as Markdown, as plain text, and as cells for a page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yarrow.report import comparison_queries as queries
from yarrow.report import numbers

if TYPE_CHECKING:
    from yarrow.compare import Comparison, Outcome


@dataclass(frozen=True)
class Cell:
    """A text, and the number to sort it by, if it is one."""

    text: str
    key: float | None = None


@dataclass(frozen=True)
class Table:
    """Cells in rows, under their headers.

    Examples
    --------
    >>> table = Table(["learner", "error"], [[Cell("AROW"), Cell("2.1 %", 0.021)]])
    >>> print(table.markdown())
    | learner | error |
    | --- | ---: |
    | AROW | 2.1 % |
    >>> print(table.text())
    learner  error
    AROW     2.1 %
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    strong: frozenset[int] = field(default_factory=frozenset)  # rows to stress

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, which are aligned at the right."""
        return any(row[column].key is not None for row in self.rows)

    def markdown(self) -> str:
        """For a Markdown file; stressed rows are bold."""
        lines = [self.header, ["---:" if self.is_number(i) else "---" for i in self._columns()]]
        for i, row in enumerate(self.rows):
            texts = [_escaped(cell.text) for cell in row]
            lines.append([f"**{text}**" if i in self.strong and text else text for text in texts])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def text(self, width: int | None = None) -> str:
        """For a terminal: columns in line, two spaces between them.

        Where that takes more than `width`, the texts of the widest column are cut.
        """
        lines = [list(self.header), *([_one_line(cell.text) for cell in r] for r in self.rows)]
        widths = [max(_columns_of(line[i]) for line in lines) for i in self._columns()]
        if width is not None:
            widest = max(self._columns(), key=lambda i: 0 if self.is_number(i) else widths[i])
            others = sum(widths) - widths[widest] + 2 * (len(widths) - 1)
            widths[widest] = max(12, min(widths[widest], width - others))
            for line in lines:
                if len(line[widest]) > widths[widest]:
                    line[widest] = line[widest][: widths[widest] - 1] + "…"
        return "\n".join(
            "  ".join(self._padded(i, line[i], widths[i]) for i in self._columns()).rstrip()
            for line in lines
        )

    def without(self, *columns: str) -> Table:
        """The same with fewer columns."""
        left = [i for i, name in enumerate(self.header) if name not in columns]
        rows = [[row[i] for i in left] for row in self.rows]
        return Table([self.header[i] for i in left], rows, self.strong)

    def short(self) -> Table:
        """For a terminal: the settings stand behind the learner, and the page has the rest."""
        learner, settings = self.header.index("learner"), self.header.index("settings")
        rows = [list(row) for row in self.rows]
        for row in rows:
            row[learner] = Cell(f"{row[learner].text} {row[settings].text}".rstrip())
        header = [name.removesuffix(", all rows") for name in self.header]
        left_out = ("settings", "rank", "family", "updates", "above the recommended")
        return Table(header, rows, self.strong).without(*left_out)

    def _columns(self) -> range:
        return range(len(self.header))

    def _padded(self, column: int, text: str, width: int) -> str:
        space = " " * (width - _columns_of(text))
        return space + text if self.is_number(column) else text + space


def learners(comparison: Comparison) -> Table:
    """The chosen setting of each learner by its error on the second half; one is recommended."""
    regression = queries.is_regression(comparison)
    chosen = queries.recommended(comparison)
    rivals = {rival["name"]: rival for rival in comparison.recommendation.get("rivals", [])}
    found = queries.contenders(comparison)
    word = queries.error_word(regression)
    passes = _passes(found)
    header = ["rank", "learner", "settings", "family", f"{word}, all rows", *passes]
    header += [f"{word}, 2nd half", *(["above the recommended"] if rivals else [])]
    header += ["nonzeros", "updates", "time"]
    rows = []
    for place, outcome in enumerate(found, start=1):
        rival = rivals.get(outcome.name) or rivals.get(outcome.learner)
        row = [Cell(str(place), place), _learner(outcome), _settings(outcome)]
        row += [Cell(outcome.family), _error(outcome, regression)]
        row += _later_errors(outcome, len(passes), regression)
        judged = queries.judged_error(outcome, regression)
        row += [Cell(queries.judged_text(outcome, regression), judged)]
        row += [_difference(outcome, chosen, rival, regression)] if rivals else []
        row += _sizes(outcome)
        rows.append(row)
    strong = frozenset(i for i, outcome in enumerate(found) if outcome is chosen)
    return Table(header, rows, strong)


def all_settings(comparison: Comparison) -> Table:
    """Every setting that was tried and finished, fewest errors first."""
    regression = queries.is_regression(comparison)
    found = queries.ordered(comparison)
    passes = _passes(found)
    header = ["rank", "learner", "settings", queries.error_word(regression), *passes]
    header += ["nonzeros", "updates", "time", "chosen by the 1st half"]
    rows = [
        [
            Cell(str(place), place),
            _learner(outcome),
            _settings(outcome),
            _error(outcome, regression),
            *_later_errors(outcome, len(passes), regression),
            *_sizes(outcome),
            Cell("yes" if outcome.best else ""),
        ]
        for place, outcome in enumerate(found, start=1)
    ]
    return Table(header, rows)


def calibration(comparison: Comparison) -> Table:
    """How honest the probabilities of some learners are."""
    header = ["learner", "settings", "Brier score", "calibration error (ECE)", "log loss"]
    rows = []
    for outcome in queries.calibrated(comparison):
        found = outcome.calibration or {}
        brier, error, loss = (
            found[name] for name in ("brier_score", "calibration_error", "log_loss")
        )
        values = [
            Cell(f"{brier:.4f}", brier),
            Cell(f"{100 * error:.2f} %", error),
            Cell(f"{loss:.4f}", loss),
        ]
        rows.append([_learner(outcome), _settings(outcome), *values])
    chosen = queries.recommended(comparison)
    first = queries.calibrated(comparison)[:1]
    return Table(header, rows, frozenset([0] if first and first[0] is chosen else []))


def failed(comparison: Comparison) -> Table:
    """What did not finish, and why."""
    rows = [
        [_learner(outcome), _settings(outcome), Cell(outcome.failure or "")]
        for outcome in queries.failures(comparison)
    ]
    return Table(["learner", "settings", "why it did not finish"], rows)


def facts(comparison: Comparison) -> Table:
    """The data, in words and numbers."""
    data = comparison.data
    said: list[tuple[str, str]] = [("name", str(data.get("name", "")))]
    for word in ("rows", "features"):
        if data.get(word) is not None:
            said.append((word, numbers.count(data[word])))
    classes = data.get("classes")
    if isinstance(classes, (list, tuple)):
        shown = ", ".join(str(label) for label in classes[:12])
        said.append(("classes", f"{len(classes)}: {shown}{', …' if len(classes) > 12 else ''}"))
    else:
        said.append(("classes", numbers.count(classes) if classes else "none: a regression"))
    if data.get("values_per_row") is not None:
        said.append(("values a row", numbers.significant(data["values_per_row"])))
    if data.get("skipped"):
        said.append(("rows left out", numbers.count(data["skipped"])))
    if data.get("noise"):
        said.append(("labels made wrong", numbers.percent(data["noise"], 1)))
    said += [(word, str(data[word])) for word in ("order", "source") if data.get(word)]
    return Table(["data", ""], [[Cell(word), Cell(text)] for word, text in said])


def _learner(outcome: Outcome) -> Cell:
    return Cell(queries.display_name(outcome.learner))


def _settings(outcome: Outcome) -> Cell:
    return Cell("" if queries.is_baseline(outcome) else queries.settings(outcome))


def _error(outcome: Outcome, regression: bool) -> Cell:
    value = queries.error(outcome, regression)
    return Cell(queries.error_text(value, regression), value)


def _passes(outcomes: Sequence[Outcome]) -> list[str]:
    """The columns of later passes over the data."""
    most = max((len(outcome.pass_errors) for outcome in outcomes), default=1)
    return [f"pass {number}" for number in range(2, most + 1)]


def _later_errors(outcome: Outcome, columns: int, regression: bool) -> list[Cell]:
    later = [*outcome.pass_errors[1:], *[math.nan] * columns][:columns]
    return [Cell(queries.error_text(error, regression), error) for error in later]


def _difference(
    outcome: Outcome, chosen: Outcome | None, rival: dict[str, float] | None, regression: bool
) -> Cell:
    if chosen is None or outcome is chosen:
        return Cell("", 0.0 if outcome is chosen else None)
    form = numbers.significant if regression else numbers.percent
    if rival is None:
        return Cell("")
    low, high = (form(rival[end]).removesuffix(" %") for end in ("low", "high"))
    return Cell(f"{form(rival['difference'])} ({low} to {high})", rival["difference"])


def _sizes(outcome: Outcome) -> list[Cell]:
    """Nonzeros, updates and time: nothing of them where nothing is learned."""
    if queries.is_baseline(outcome):
        return [Cell("", math.inf)] * 3
    learned = outcome.rows * max(1, len(outcome.pass_errors))  # rows are those of one pass
    share = outcome.updates / learned if learned else math.nan
    return [
        Cell(numbers.count(outcome.nonzeros), outcome.nonzeros),
        Cell(numbers.percent(share, 1), share),
        Cell(numbers.duration(outcome.seconds), outcome.seconds),
    ]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """What Markdown would take for its own signs."""
    for sign in "\\`*[|":
        text = text.replace(sign, "\\" + sign)
    return _one_line(text).replace("<", "&lt;")


def _columns_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 1 + (unicodedata.east_asian_width(letter) in "WF")
        for letter in text
    )
