"""Figures are valid, safe and readable: nothing covers anything."""

import base64
import itertools
import json
import re
import struct
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report.support import HOSTILE
from scipy.optimize import minimize

from yarrow.errors import ParameterError
from yarrow.report import figures
from yarrow.report.figures import Axis, Difference, Series, Spot, style
from yarrow.report.figures.axes import Scale
from yarrow.report.figures.drawing import Box, fitted, text_width
from yarrow.report.figures.labels import Wish, placed, spread
from yarrow.report.figures.ranks import tied_groups

RANDOM = np.random.default_rng(0)
KINDS = ["lines", "log lines", "scatter", "paired", "ranks", "differences", "confusion"]
KINDS += ["boxes", "images"]
LONG = "AVeryLongNameOfALearnerThatGoesOnAndOnClassifier"


def draw(kind: str, name: str, many: int, width: float = 760) -> figures.Figure:
    """A figure with `many` things called `name` in it."""
    names = [f"{name}{i}" for i in range(many)]
    values = RANDOM.random(many)
    percent = Axis(f"error {name}", percent=True)
    curve = [(int(at), 0.1 + 1 / at) for at in np.linspace(1, 1e6, 50)]
    series = [Series(n, [(x, y + v) for x, y in curve]) for n, v in zip(names, values, strict=True)]
    strong = Series(names[0], curve, strong=True)
    spots = [
        Spot(n, 10 ** (6 * v), RANDOM.random(), n[-1]) for n, v in zip(names, values, strict=True)
    ]
    groups = dict(zip(names, RANDOM.random((many, 30)), strict=True))
    kinds = {
        "lines": lambda: figures.lines(series, title=name, x=Axis("rows"), y=percent, width=width),
        "log lines": lambda: figures.lines(
            [strong, *series[1:]], title=name, x=Axis("rows", log=True), y=Axis("e", log=True)
        ),
        "scatter": lambda: figures.scatter(
            spots, title=name, x=Axis("n", log=True), y=percent, width=width
        ),
        "paired": lambda: figures.paired(
            [(n, v, v / 2) for n, v in zip(names, values, strict=True)],
            title=name,
            x=percent,
            y=percent,
        ),
        "ranks": lambda: figures.rank_diagram(names, (1 + values * many).tolist(), many / 3),
        "differences": lambda: figures.differences(
            [
                Difference(n, v, v - 0.4, v + 0.4, "p = 0.1")
                for n, v in zip(names, values, strict=True)
            ],
            title=name,
            axis=percent,
            width=width,
        ),
        "confusion": lambda: figures.confusion(
            names, RANDOM.integers(0, 2000, (many, many)).tolist()
        ),
        "boxes": lambda: figures.boxes(groups, title=name, x=Axis("mistakes")),
        "images": lambda: figures.images(
            [(n, RANDOM.random((16, 16))) for n in names], title=name, signed=True
        ),
    }
    assert set(kinds) == set(KINDS)
    return kinds[kind]()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["AROW", LONG, HOSTILE, "日本語のクラス"])
def test_a_figure_is_valid_xml_and_says_what_it_shows(kind, name):
    figure = draw(kind, name, 5)
    for svg in (figure.standalone(), figure.inline()):
        root = ET.fromstring(svg)
        tags = [element.tag.rpartition("}")[2] for element in root.iter()]
        assert tags[1:3] == ["title", "desc"]
        assert root[0].text
        assert root[1].text
        assert not {"script", "b", "foreignObject"} & set(tags)


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_asks_nobody_for_anything(kind):
    svg = draw(kind, HOSTILE, 5).standalone()
    assert set(re.findall(r"https?://[^\"]*", svg)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|\son\w+=", svg)
    assert all(link.startswith("data:image/png") for link in re.findall(r'href="([^"]*)"', svg))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("many", [1, 3, 20, 45])
@pytest.mark.parametrize("name", ["AROW", LONG])
def test_no_text_covers_another_or_leaves_the_figure(kind, many, name):
    for width in (760, 360):
        figure = draw(kind, name, many, width)
        sheet = Box(-0.5, -0.5, figure.width + 0.5, figure.height + 0.5)
        for text, box in figure.texts:
            assert box.inside(sheet), (text, box)
        for (one, first), (other, second) in itertools.combinations(figure.texts, 2):
            assert not first.overlaps(second), (one, other)


def test_every_line_with_a_name_is_labelled_in_the_order_of_their_ends():
    series = [Series(f"s{i}", [(0, 1), (1, value)]) for i, value in enumerate((3, 1, 1.001, 2))]
    figure = figures.lines(series, title="t", x=Axis("x"), y=Axis("y"))
    heights = {text: box.top for text, box in figure.texts if text.startswith("s")}
    assert sorted(heights, key=heights.get) == ["s0", "s3", "s2", "s1"]


def test_values_without_a_place_are_left_out():
    points = [(0, 1.0), (1, 2.0), (2, float("nan")), (3, 0.0), (10, 4.0)]
    figure = figures.lines(
        [Series("s", points)], title="t", x=Axis("x", log=True), y=Axis("y", log=True)
    )
    assert figure.body.count("nan") == 0
    drawn = re.search(r'class="curve[^"]*" points="([^"]*)"', figure.body)[1]
    assert len(drawn.split()) == 2


@pytest.mark.parametrize("width", [360, 760])
def test_a_chart_can_be_read_back_from_its_pixels(width):
    """The scales told to scripts are those of the drawing."""
    points = [(10, 0.2), (40, 0.05), (100, 0.31)]
    figure = figures.lines(
        [Series("s", points)], title="t", x=Axis("x"), y=Axis("y", percent=True), width=width
    )
    plot = json.loads(figure.plot)
    left, top, right, bottom = plot["frame"]
    drawn = re.search(r'class="curve[^"]*" points="([^"]*)"', figure.body)[1]
    for (x, y), pixel in zip(points, drawn.split(), strict=True):
        px, py = map(float, pixel.split(","))
        low, high, _ = plot["x"]
        assert low + (high - low) * (px - left) / (right - left) == pytest.approx(x, abs=0.1)
        low, high, _ = plot["y"]
        assert low + (high - low) * (bottom - py) / (bottom - top) == pytest.approx(y, abs=1e-3)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8), st.floats(0.5, 30))
def test_spread_labels_are_apart_in_bounds_and_in_order(wanted, gap):
    places = spread(wanted, gap, 0, 100)
    room = min(gap, 100 / max(1, len(wanted) - 1))
    ordered = [places[i] for i in sorted(range(len(wanted)), key=lambda i: wanted[i])]
    assert all(b - a >= room - 1e-6 for a, b in itertools.pairwise(ordered))
    assert min(places) >= -1e-6
    assert max(places) <= 100 + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_spread_is_the_least_squares_solution(seed):
    wanted = np.sort(np.random.default_rng(seed).uniform(20, 60, 6))
    limits = [
        {"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - 9} for i in range(len(wanted) - 1)
    ]
    solved = minimize(
        lambda x: np.sum((x - wanted) ** 2),
        np.linspace(0, 100, 6),
        bounds=[(0, 100)] * 6,
        constraints=limits,
    )
    np.testing.assert_allclose(spread(wanted.tolist(), 9, 0, 100), solved.x, atol=1e-3)


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), max_size=30))
def test_placed_labels_cover_no_label_and_no_dot(points):
    frame = Box(0, 0, 400, 300)
    wishes = [Wish(point, f"label {i}", matters=i < 5) for i, point in enumerate(points)]
    found = [box for box in placed(wishes, frame) if box is not None]
    dots = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(found, 2))
    assert not any(label.overlaps(dot) for label in found for dot in dots)
    assert all(box.inside(frame) for box in found)


def test_a_lonely_point_gets_its_label():
    assert placed([Wish((200, 150), "here")], Box(0, 0, 400, 300)) != [None]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_front_holds_exactly_what_no_other_beats(points):
    front = {points[i] for i in figures.pareto_front(points)}
    expected = {
        (x, y)
        for x, y in points
        if not any(a <= x and b >= y and (a, b) != (x, y) for a, b in points)
    }
    assert front == expected


@given(st.lists(st.floats(1, 10), min_size=1, max_size=10), st.floats(0.1, 5))
def test_tied_groups_join_all_pairs_within_the_difference_and_no_others(ranks, difference):
    ranks = sorted(ranks)
    groups = tied_groups(ranks, difference)
    for i, j in itertools.combinations(range(len(ranks)), 2):
        joined = any(first <= i and j <= last for first, last in groups)
        assert joined == (ranks[j] - ranks[i] <= difference)


@given(st.floats(1e-6, 1e9), st.floats(1.0001, 1e9), st.booleans(), st.integers(2, 12))
def test_ticks_are_few_different_and_inside(low, factor, log, most):
    scale = Scale(Axis("x", log=log), [low, low * factor], 0, 100)
    values = [value for value, _ in scale.ticks(most)]
    assert len(values) <= most + 2
    assert all(scale.low * (1 - 1e-6) <= value <= scale.high * (1 + 1e-6) for value in values)
    assert values == sorted(set(values))


@pytest.mark.parametrize("high", [0.0021, 0.006, 0.011, 0.3])
def test_a_narrow_chart_still_has_a_scale_to_read(high):
    item = Difference("BayesianPerceptron", high / 2, -high / 3, high)
    figure = figures.differences([item], title="t", axis=Axis("error", percent=True), width=360)
    ticks = [text for text, _ in figure.texts if text.endswith(" %")]
    assert len(ticks) >= 2
    assert any(float(text.removesuffix(" %").replace("\N{MINUS SIGN}", "-")) == 0 for text in ticks)


def test_ranks_among_others_that_are_not_shown_stay_on_the_axis():
    figure = figures.rank_diagram(["a", "b"], [9.4, 16.2], 13.5)
    lines = re.findall(r'class="axis" points="([\d.]+),[\d.]+ [\d.]+,[\d.]+ ([\d.]+)', figure.body)
    assert len(lines) == 2
    (first, left), (second, right) = (map(float, pair) for pair in lines)
    assert left < first < second < right


def test_ticks_of_a_log_axis_are_not_crowded():
    texts = [text for _, text in Scale(Axis("n", log=True), [850, 11_000], 0, 800).ticks(12)]
    assert texts == ["1,000", "3,000", "10,000"]


def test_large_ticks_have_thousands_marks():
    texts = [text for _, text in Scale(Axis("rows"), [0, 1_000_000], 0, 100).ticks()]
    assert "1,000,000" in texts
    logs = [text for _, text in Scale(Axis("n", log=True), [1, 1e6], 0, 100).ticks(8)]
    assert logs == ["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"]


@given(st.text(max_size=60), st.floats(20, 300))
def test_a_fitted_text_fits(text, width):
    assert text_width(fitted(text, width)) <= max(width, text_width("…"))


def test_small_counts_are_shown_and_many_classes_become_a_list():
    small = figures.confusion(["a", "b"], [[10, 3], [0, 12_345]])
    assert {"10", "3", "12,345"} <= {text for text, _ in small.texts}
    counts = np.zeros((40, 40), dtype=int)
    counts[7, 3], counts[2, 5] = 9, 11
    listed = [text for text, _ in figures.confusion(range(40), counts.tolist()).texts]
    assert listed[1:] == ["2 → 5", "11 (100.0 %)", "7 → 3", "9 (100.0 %)"]


def test_pictures_keep_their_pixels():
    values = np.arange(6).reshape(2, 3)
    svg = figures.images([("a", values)], title="t").standalone()
    png = base64.b64decode(re.search(r"base64,([^\"]*)", svg)[1])
    assert struct.unpack(">II", png[16:24]) == (3, 2)
    size = struct.unpack(">I", png[33:37])[0]
    rows = np.frombuffer(zlib.decompress(png[41 : 41 + size]), dtype=np.uint8).reshape(2, 4)
    np.testing.assert_array_equal(rows[:, 1:], np.round(values / 5 * 255))


def test_weights_of_zero_are_mid_grey():
    from yarrow.report.figures.image_grid import _grey

    grey = _grey(np.array([[-1.0, 0.0, 2.0]]), signed=True)
    assert grey.tolist() == [[64, 128, 255]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures.confusion(["a"], [[1, 2]]), "1 labels"),
        (lambda: figures.images([("w", [1, 2])], title=""), "'w'"),
        (lambda: figures.images([("w", [[np.nan]])], title=""), "'w'"),
        (lambda: figures.rank_diagram(["a"], [1, 2], 1), "1 names and 2 mean ranks"),
        (lambda: Scale(Axis("n", log=True), [0, 1], 0, 1), "'n'"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("theme", [style._LIGHT, style._DARK])
def test_text_and_lines_stand_out_from_the_paper_in_both_themes(theme):
    """WCAG 2: 4.5 for text, 3 for lines."""
    for name in ("ink", "soft"):
        assert contrast(theme[name], theme["paper"]) >= 4.5
    for i in range(style.COLOURS):
        assert contrast(theme[f"c{i}"], theme["paper"]) >= 3, i


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
