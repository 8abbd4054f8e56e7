"""The page in a real browser: no errors in either theme, sorting and reading work."""

import re
import shutil
import subprocess

import pytest
from report.support import HOSTILE, comparison

from yarrow.report import page

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
THEMES = {"light": "1", "dark": "0"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not BROWSER, reason="needs Chromium to look at the page"),
]


def browse(folder, html, script="", theme="light", width=1200):
    """The page after it has run, and what the browser complained about.

    A `script` for the test is not in the page's policy, so the policy is taken out for it.
    """
    if script:
        html = re.sub(r"<meta http-equiv=[^>]*>", "", html)
        html = html.replace("</body>", f"<script>{{ {script} }}</script></body>")
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += [f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900"]
    command += [f"--blink-settings=preferredColorScheme={THEMES[theme]}", "--dump-dom"]
    done = subprocess.run(
        [*command, path.as_uri()], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize(("theme", "prefix"), [("dark", "Learner"), ("light", HOSTILE)])
def test_the_page_runs_without_a_complaint(tmp_path, theme, prefix):
    dom, complaints = browse(tmp_path, page(comparison(prefix=prefix)), theme=theme)
    assert complaints == []
    other = "Light theme" if theme == "dark" else "Dark theme"
    assert f">{other}</button>" in dom  # so the script ran, as the policy allows


def test_a_complaint_would_be_seen(tmp_path):
    _, complaints = browse(tmp_path, page(comparison()), script="nowhere()")
    assert complaints


def test_a_click_sorts_and_the_theme_changes(tmp_path):
    script = """
    const table = document.querySelector("#learners table");
    const column = (i) => [...table.tBodies[0].rows].map((row) => row.cells[i].dataset.key);
    const button = table.querySelectorAll("th button")[7];
    const before = getComputedStyle(document.body).backgroundColor;
    button.click();
    const up = column(7).join(" ");
    button.click();
    const down = column(7).join(" ");
    document.querySelector("button.theme").click();
    const after = getComputedStyle(document.body).backgroundColor;
    document.body.dataset.result = JSON.stringify({ up, down, before, after });
    """
    dom, complaints = browse(tmp_path, page(comparison()), script)
    assert complaints == []
    found = dict(re.findall(r'"(\w+)":"([^"]*)"', _result(dom)))
    up, down = ([float(text) for text in found[way].split()] for way in ("up", "down"))
    assert up == sorted(up)
    assert down == sorted(up, reverse=True)
    assert len(set(up)) > 3
    assert found["before"] != found["after"]


def test_the_pointer_reads_the_learning_curves(tmp_path):
    shown = comparison()
    script = """
    const svg = document.querySelector("#curves .wide svg");
    const [left, top, right] = JSON.parse(svg.dataset.plot).frame;
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    svg.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + right * scale, clientY: box.top + (top + 20) * scale, bubbles: true }));
    const readout = document.querySelector("#curves .wide .readout").getBoundingClientRect();
    if (readout.top < box.top || readout.top > box.top + 100) throw new Error("far from the chart");
    const entries = document.querySelectorAll("#curves .wide .readout > *");
    document.body.dataset.result = [...entries].map((e) => [...e.childNodes]
      .map((part) => part.textContent).join(" ")).join("; ");
    """
    dom, complaints = browse(tmp_path, page(shown), script)
    assert complaints == []
    best = min((o for o in shown.outcomes if o.best), key=lambda o: o.mistakes)
    read = dict(re.findall(r"(Learner\d+)\s*([\d.]+) %", _result(dom)))
    assert "5,000 rows" in _result(dom)
    name = best.learner.removesuffix("Classifier")
    assert float(read[name]) == pytest.approx(100 * best.mistakes / best.rows, abs=0.1)


@pytest.mark.parametrize(("width", "look"), [(1200, "wide"), (500, "narrow")])
def test_no_text_of_a_figure_covers_another_as_drawn(tmp_path, width, look):
    script = """
    const covered = [];
    for (const svg of document.querySelectorAll("svg.figure")) {
      const boxes = [...svg.querySelectorAll("text")]
        .map((text) => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => box.width > 0);
      boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 5) covered.push(one + " / " + other);
      }));
    }
    const count = [...document.querySelectorAll("svg.figure text")]
      .filter((text) => text.getBoundingClientRect().width > 0).length;
    const sideways = document.documentElement.scrollWidth > innerWidth;
    document.body.dataset.result = JSON.stringify({ covered, count, sideways });
    """
    dom, complaints = browse(tmp_path, page(comparison(30, 20)), script, width=width)
    assert complaints == []
    assert '"covered":[]' in _result(dom)
    assert '"sideways":false' in _result(dom)
    assert int(re.search(r'"count":(\d+)', _result(dom))[1]) > 100


def _result(dom):
    found = re.search(r'data-result="([^"]*)"', dom)[1]
    return found.replace("&quot;", '"').replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")
