"use strict";
// Everything can be read without this script: it sorts tables, changes the theme, reads charts.

const root = document.documentElement;
const toggle = document.createElement("button");
const isDark = () => root.dataset.theme
  ? root.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
const nameToggle = () => { toggle.textContent = isDark() ? "Light theme" : "Dark theme"; };
toggle.className = "theme";
toggle.type = "button";
toggle.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameToggle();
});
nameToggle();
document.querySelector("header").append(toggle);

for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key);
      };
      const order = (a, b) => typeof a === "number" && typeof b === "number"
        ? a - b || 0
        : String(a).localeCompare(String(b));
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (down ? -1 : 1) * order(key(a), key(b)));
      table.tBodies[0].append(...rows);
    });
  });
}

// A chart of lines tells its frame and scales; the lines themselves are the data.
for (const svg of document.querySelectorAll("svg[data-plot]")) {
  const plot = JSON.parse(svg.dataset.plot);
  const [left, top, right, bottom] = plot.frame;
  const value = ([low, high, log], share) =>
    log ? low * (high / low) ** share : low + (high - low) * share;
  const lines = [...svg.querySelectorAll("polyline.curve")].map((line) => ({
    name: line.querySelector("title").textContent,
    quiet: line.classList.contains("sq"),
    colour: getComputedStyle(line).getPropertyValue("--c"),
    points: [...line.points].map((point) => [point.x, point.y]),
  }));
  const figure = svg.closest("figure");
  const box = document.createElement("div");
  box.className = "readout";
  box.hidden = true;
  figure.append(box);
  const guide = document.createElementNS("http://www.w3.org/2000/svg", "line");
  guide.setAttribute("class", "mark guide");
  guide.setAttribute("y1", top);
  guide.setAttribute("y2", bottom);
  guide.setAttribute("visibility", "hidden");
  svg.append(guide);
  const hide = () => { box.hidden = true; guide.setAttribute("visibility", "hidden"); };

  const heightAt = (points, x) => {
    const after = points.findIndex((point) => point[0] >= x);
    const last = points[points.length - 1];
    if (after < 0) return x < last[0] + 1 ? last[1] : null;
    if (after === 0) return x > points[0][0] - 1 ? points[0][1] : null;
    const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
    return x1 === x0 ? y1 : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
  };
  const number = (shown, digits) => plot.percent
    ? (100 * shown).toFixed(2) + " %"
    : shown.toLocaleString("en", { maximumSignificantDigits: digits });

  let at = (left + right) / 2;
  const show = (x, y) => {
    at = Math.min(Math.max(x, left), right);
    guide.setAttribute("x1", at);
    guide.setAttribute("x2", at);
    guide.setAttribute("visibility", "visible");
    const there = lines
      .map((line) => ({ ...line, y: heightAt(line.points, at) }))
      .filter((line) => line.y !== null)
      .filter((line) => !line.quiet || Math.abs(line.y - y) < 4)
      .sort((a, b) => a.y - b.y);
    const head = document.createElement("b");
    const rows = value(plot.x, (at - left) / (right - left));
    head.textContent = Math.round(rows).toLocaleString("en") + " " + plot.word;
    box.replaceChildren(head);
    for (const line of there) {
      const entry = document.createElement("div");
      const colour = document.createElement("i");
      const text = document.createElement("span");
      colour.style.background = line.colour;
      text.textContent = number(value(plot.y, (bottom - line.y) / (bottom - top)), 4);
      entry.append(colour, line.name, text);
      box.append(entry);
    }
    box.hidden = false;
    const drawn = svg.getBoundingClientRect();
    const scale = drawn.width / svg.viewBox.baseVal.width;
    const place = at * scale + 14;
    const room = figure.clientWidth - box.offsetWidth;
    box.style.left = (place <= room ? place : Math.max(0, at * scale - 14 - box.offsetWidth)) + "px";
    box.style.top = drawn.top - figure.getBoundingClientRect().top + top * scale + "px";
  };
  svg.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY);
    const { x, y } = point.matrixTransform(svg.getScreenCTM().inverse());
    if (x < left - 4 || x > right + 4) hide(); else show(x, y);
  });
  svg.addEventListener("pointerleave", hide);
  figure.tabIndex = 0;
  figure.addEventListener("blur", hide);
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -8, ArrowRight: 8 }[event.key];
    if (event.key === "Escape") hide();
    if (!step || svg.getBoundingClientRect().width === 0) return;
    event.preventDefault();
    show(at + step, -99);
  });
}

// On paper nothing can be opened.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    part.dataset.closed = "";
  }
});
addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-closed]")) {
    part.open = false;
    delete part.dataset.closed;
  }
});
