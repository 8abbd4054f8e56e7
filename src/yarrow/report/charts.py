"""The figures of a comparison, each with the sentence that stands below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from yarrow.report import comparison_queries as queries
from yarrow.report import numbers
from yarrow.report.figures import (
    Axis,
    Difference,
    Figure,
    Series,
    Spot,
    confusion,
    differences,
    lines,
    rank_diagram,
    reliability,
    scatter,
)
from yarrow.report.figures.confusion_matrix import MOST_CLASSES

if TYPE_CHECKING:
    from yarrow.compare import Comparison, Outcome

#: how many learners a chart names; the others are grey
MOST_NAMED = 8
#: how many rivals stand beside the recommendation, the closest ones
MOST_RIVALS = 8
_STRETCHES = 20
#: seconds: where most learners take less, the time of a call outweighs that of its rows
SHORTEST = 0.02
#: how many learners the diagram of ranks shows
MOST_RANKED = 12


def learning_curves(comparison: Comparison, width: float) -> tuple[Figure, str] | None:
    """Error so far against rows; the first rows, where anything can happen, are left out."""
    regression = queries.is_regression(comparison)
    found = [item for item in queries.contenders(comparison) if item.curve]
    if not found:
        return None
    curves = {
        item.name: [(at, error) for at, error in item.curve if at >= 0.005 * item.curve[-1][0]]
        for item in found
    }
    named = _named(comparison, found, MOST_NAMED)
    figure, above = _over_rows(comparison, curves, named, "so far", width)
    notes = []
    if quiet := len(found) - len(named):
        notes.append(f"Grey: {quiet} other learners.")
    if above:
        said = ", ".join(_with_error(item, regression) for item in above)
        notes.append(f"Above the chart at the end: {said}.")
    return figure, " ".join(notes)


def error_by_stretch(comparison: Comparison, width: float) -> tuple[Figure, str] | None:
    """Error within each twentieth of the stream: drift shows here; None for a short stream."""
    found = [item for item in queries.contenders(comparison) if item.curve]
    rows = max((item.rows for item in found), default=0)
    if rows < 10 * _STRETCHES:
        return None
    named = _named(comparison, found, MOST_NAMED // 2)
    power = 2 if queries.is_regression(comparison) else 1
    curves = {item.name: _by_stretch(item.curve, rows, power) for item in named}
    figure, above = _over_rows(comparison, curves, named, "in each twentieth", width)
    note = "Each twentieth of the stream by itself: where the errors were made."
    if above:
        said = ", ".join(queries.display_name(item.learner) for item in above)
        note += f" Above the chart at the end: {said}."
    return figure, note


def _by_stretch(
    curve: Sequence[tuple[int, float]], rows: int, power: int
) -> Sequence[tuple[float, float]]:
    """Errors between places of the curve that are about a twentieth of the stream apart.

    Errors to the `power` are means over rows: 1 for mistakes, 2 for an RMSE.
    """
    points: list[tuple[float, float]] = []
    start, before = 0, 0.0
    for at, error in curve:
        if at - start >= 0.98 * rows / _STRETCHES or (at == rows and at - start > rows / 40):
            mean = max(0.0, at * error**power - before) / (at - start)
            points.append((0.5 * (start + at), mean ** (1 / power)))
            start, before = at, at * error**power
    return points


def _over_rows(
    comparison: Comparison,
    curves: Mapping[str, Sequence[tuple[float, float]]],
    named: Sequence[Outcome],
    label: str,
    width: float,
) -> tuple[Figure, list[Outcome]]:
    """A chart of `curves`, those of `named` with labels, and whose line ends above it."""
    regression = queries.is_regression(comparison)
    chosen = queries.recommended(comparison)
    low, high = _range([curves[item.name] for item in named if not queries.is_baseline(item)])
    above = [item for item in named if curves[item.name][-1][1] > high]
    series = [
        Series(
            queries.display_name(item.learner),
            curves[item.name],
            strong=item is chosen,
            plain=queries.is_baseline(item),
        )
        for item in named
        if item not in above
    ]
    names = {item.name for item in named}
    series += [
        Series(queries.display_name(item.learner), curves[item.name], quiet=True)
        for item in queries.contenders(comparison)
        if item.name in curves and item.name not in names
    ]
    figure = lines(
        series,
        title=f"{_sentence_case(queries.error_word(regression))} {label}",
        x=Axis("rows", low=0.0),
        y=Axis(
            f"{queries.error_word(regression)} {label}",
            percent=not regression,
            low=low,
            high=high,
        ),
        width=width,
        height=420 if width > 500 else 360,
    )
    return figure, above


def against_nonzeros(comparison: Comparison, width: float) -> tuple[Figure, str] | None:
    """Accuracy (or squared error) against the number of nonzero weights."""
    return _trade_off(comparison, width, "nonzeros", Axis("nonzero weights", log=True))


def against_seconds(comparison: Comparison, width: float) -> tuple[Figure, str] | None:
    """Accuracy (or squared error) against the time it took to learn; None if that was too short."""
    times = sorted(o.seconds for o in queries.contenders(comparison) if not queries.is_baseline(o))
    if not times or times[len(times) // 2] < SHORTEST:
        return None
    axis = Axis("time to learn the stream", log=True, form=numbers.duration)
    return _trade_off(comparison, width, "seconds", axis)


def _trade_off(
    comparison: Comparison, width: float, field: str, axis: Axis
) -> tuple[Figure, str] | None:
    regression = queries.is_regression(comparison)
    found = [item for item in queries.contenders(comparison) if not queries.is_baseline(item)]
    at_zero = [item for item in found if getattr(item, field) <= 0]
    found = [item for item in found if item not in at_zero]
    if len(found) < 2:
        return None
    shown = _not_far_behind(found, regression)
    chosen = queries.recommended(comparison)
    spots = []
    for item in shown:
        error = queries.error(item, regression)
        name, value = queries.display_name(item.learner), error if regression else 1 - error
        spots.append(Spot(name, getattr(item, field), value, item.family, item is chosen))
    word = queries.error_word(regression) if regression else "accuracy"
    figure = scatter(
        spots,
        title=f"{_sentence_case(word)} against {axis.label}",
        x=axis,
        y=Axis(word, percent=not regression),
        higher_y=not regression,
        width=width,
        height=460 if width > 500 else 400,
    )
    better = "fewer weights" if field == "nonzeros" else "less time"
    note = f"Dashed: no learner is both more accurate and has {better}."
    if field == "seconds":
        note = "Dashed: no learner is both more accurate and faster."
    if left_out := [item for item in found if item not in shown]:
        said = ", ".join(_with_error(item, regression) for item in left_out[:8])
        more = f" and {len(left_out) - 8} others" if len(left_out) > 8 else ""
        note += f" Left out, with far more errors: {said}{more}."
    if at_zero:
        note += (
            " Without a place on this axis:"
            f" {', '.join(queries.display_name(item.learner) for item in at_zero)}."
        )
    return figure, note


def confusions(comparison: Comparison) -> tuple[Figure, str] | None:
    """The confusion matrix of the recommended learner."""
    chosen = queries.recommended(comparison)
    if chosen is None or not chosen.confusion:
        return None
    figure = confusion(
        chosen.confusion["labels"],
        chosen.confusion["counts"],
        title=f"Confusion matrix of {chosen.learner}",
    )
    note = "Rows are true labels, columns predicted ones; shaded by the share of its row."
    if len(chosen.confusion["labels"]) > MOST_CLASSES:
        note = "True label → predicted label: rows, and their share of the true label's."
    counted = sum(map(sum, chosen.confusion["counts"]))
    if counted < chosen.rows:
        early = f"{numbers.count(chosen.rows - counted)} of {numbers.count(chosen.rows)} rows"
        note += f" Left out: {early}, which came before there was anything to predict."
    return figure, note


def calibration(comparison: Comparison, width: float) -> tuple[Figure, str] | None:
    """How often predictions are right, by their confidence."""
    found = queries.calibrated(comparison)
    if not found:
        return None
    curves = {queries.display_name(o.learner): (o.calibration or {})["curve"] for o in found}
    figure = reliability(
        curves, title="Right against confidence", width=width, height=min(400, width)
    )
    note = (
        "Rows in ten bins by the probability of the predicted class, each row predicted before it"
        " was learned. On the diagonal a learner is right as often as it says; below, it says too"
        " much."
    )
    return figure, note


def mean_ranks(comparison: Comparison) -> tuple[Figure, str] | None:
    """Mean ranks with their critical difference."""
    ranks = comparison.ranks
    if not ranks or len(ranks["learners"]) < 2:
        return None
    learners, total = ranks["learners"], len(ranks["learners"])
    shown = list(range(total))[:MOST_RANKED]
    chosen = comparison.recommendation.get("learner")
    if chosen in learners and learners.index(chosen) not in shown:
        shown.append(learners.index(chosen))
    if total - len(shown) == 1:
        shown = list(range(total))
    figure = rank_diagram(
        [queries.display_name(learners[i]) for i in shown],
        [ranks["mean_ranks"][i] for i in shown],
        ranks["critical_difference"],
        title=f"Mean ranks over {ranks['over']}",
        strong=queries.display_name(comparison.recommendation.get("learner") or ""),
    )
    note = f"Mean rank by error over {ranks['over']}; 1 is best. "
    note += "A bar joins learners whose ranks do not differ significantly."
    if len(shown) < total:
        note += f" Not shown: {total - len(shown)} others with higher ranks, among all {total}."
    return figure, note


def rivals(comparison: Comparison, width: float) -> tuple[Figure, str] | None:
    """How much worse the rivals are, with intervals."""
    found = comparison.recommendation.get("rivals") or []
    if not found:
        return None
    regression = queries.is_regression(comparison)
    learners = {item.name: item.learner for item in comparison.outcomes}
    items = [
        Difference(
            queries.display_name(learners.get(rival["name"], rival["name"])),
            rival["difference"],
            rival["low"],
            rival["high"],
        )
        for rival in found[:MOST_RIVALS]
    ]
    name = queries.display_name(comparison.recommendation.get("learner") or "")
    axis = Axis(f"{queries.error_word(regression)} above {name}", percent=not regression)
    figure = differences(items, title=f"Rivals of {name}", axis=axis, width=width)
    baselines = sum(rival.get("family") == "baseline" for rival in found)
    among = f"{len(found)} rivals" + (f" ({baselines} of them baselines)" if baselines else "")
    note = (
        "Differences on the second half of the rows, with intervals of 95 % for all"
        f" {among} together. Grey: may be equal."
    )
    if len(found) > MOST_RIVALS:
        note += f" The {len(found) - MOST_RIVALS} others are in the table."
    return figure, note


def _named(comparison: Comparison, found: Sequence[Outcome], most: int) -> list[Outcome]:
    """The recommended one, the best others and the baselines: these get colours and labels."""
    chosen = queries.recommended(comparison)
    others = [item for item in found if not queries.is_baseline(item) and item is not chosen]
    first = [item for item in found if item is chosen]
    named = [*first, *others][:most]
    return [*named, *(item for item in found if queries.is_baseline(item))]


def _range(curves: Sequence[Sequence[tuple[float, float]]]) -> tuple[float | None, float]:
    """Ends of the error axis: what happens after the first rows is to be seen."""
    last = max((curve[-1][0] for curve in curves), default=0)
    values = [value for curve in curves for at, value in curve if at >= 0.15 * last]
    high, low = max(values, default=1.0), min(values, default=0.0)
    return (0.0 if low < 0.45 * high else None), 1.12 * high or 1.0


def _not_far_behind(found: Sequence[Outcome], regression: bool) -> list[Outcome]:
    """Leave out those that would squeeze the others into a corner."""
    errors = [queries.error(item, regression) for item in found]
    middle = sorted(errors)[len(errors) // 2]
    limit = max(middle + 2.5 * (middle - min(errors)), 1.5 * min(errors))
    return [item for item, error in zip(found, errors, strict=True) if error <= limit]


def _with_error(item: Outcome, regression: bool) -> str:
    said = queries.error_text(queries.error(item, regression), regression)
    return f"{queries.display_name(item.learner)} {said}"


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
