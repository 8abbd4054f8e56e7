// Charts of the page, by uPlot: made once, fed each second, made anew when the theme changes.
const shown = new Map(); // element -> { plot, make, data }
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// The time of day, with seconds where the whole chart is short.
export const clock = (time, seconds = true) => new Date(1000 * time).toLocaleTimeString([],
  { hour: "2-digit", minute: "2-digit", ...(seconds && { second: "2-digit" }), hourCycle: "h23" });
export const percent = (share) => `${(100 * share).toFixed(1)} %`;

const axis = (more = {}) => ({
  stroke: colour("--quiet"), grid: { stroke: colour("--rule"), width: 1 },
  ticks: { show: false }, font: "12px system-ui, sans-serif", ...more,
});
const shares = { range: (_, low, high) => [0, Math.max(0.05, Math.min(1, high * 1.1))] };
const ofShares = () => axis({ size: 52, values: (_, ticks) => ticks.map((t) => `${+(100 * t).toFixed(1)} %`) });

function draw(element, key, make, data) {
  const known = shown.get(element);
  if (known && known.key === key) {
    known.data = data;
    known.plot.setData(data);
    return;
  }
  known?.plot.destroy();
  element.replaceChildren();
  const options = { width: element.clientWidth || 300, legend: { show: false }, cursor: { y: false }, ...make() };
  shown.set(element, { plot: new uPlot(options, data, element), key, make, data });
}

function empty(element, sentence) {
  shown.get(element)?.plot.destroy();
  shown.delete(element);
  element.innerHTML = "";
  element.append(Object.assign(document.createElement("p"), { className: "quiet", textContent: sentence }));
}

export function repaint() {
  for (const [element, { key, make, data }] of [...shown]) {
    shown.get(element).key = null;
    draw(element, key, make, data);
  }
}

new ResizeObserver(() => {
  for (const [element, { plot }] of shown)
    if (element.clientWidth && Math.abs(element.clientWidth - plot.width) > 1)
      plot.setSize({ width: element.clientWidth, height: plot.height });
}).observe(document.documentElement);

// Lines over time; each is a list of [time, value].
function overTime(element, lines, { names, height, y, scale, marks = () => [], label }) {
  const long = lines.some((line) => line.length > 1);
  if (!long) return empty(element, "Appears when labels come.");
  const data = uPlot.join(lines.map((line) => [line.map((p) => p[0]), line.map((p) => p[1])]));
  draw(element, names.join("\n"), () => ({
    height, scales: { y: scale },
    axes: [axis({ space: 90, size: 30, values: (_, times) =>
      times.map((time) => clock(time, times.some((t) => t % 60))) }), y()],
    series: [{}, ...names.map((name, i) => ({
      label: name, stroke: colour(`--line-${i % 4}`), width: 2, spanGaps: true, points: { show: false } }))],
    hooks: { draw: [(plot) => vertical(plot, marks())] },
  }), data);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
}

function vertical(plot, times) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour("--warn");
  ctx.setLineDash([4, 4]);
  for (const time of times) {
    const x = plot.valToPos(time, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

let alarms = [];
export function error(element, versions, state) {
  alarms = state.alarms.map((alarm) => alarm.time);
  const champion = versions.find((version) => version.champion).curve.at(-1);
  overTime(element, versions.map((version) => version.curve), {
    names: versions.map((version) => `${version.version} ${version.learner}`), height: 240,
    y: ofShares, scale: state.model.regression ? {} : shares, marks: () => alarms,
    label: `Error over time, now ${champion ? percent(champion[1]) : "unknown"}`,
  });
}

export function confidence(element, points) {
  const lines = [points.map((p) => [p[0], p[1]]), points.map((p) => [p[0], p[2]])];
  const last = points.at(-1);
  overTime(element, lines, {
    names: ["confidence", "right"], height: 180, y: ofShares, scale: { range: () => [0, 1.02] },
    label: last ? `Confidence ${percent(last[1])}, right ${percent(last[2])}` : "Confidence over time",
  });
}

export function throughput(element, points) {
  overTime(element, [points], {
    names: ["rows a second"], height: 140, y: () => axis({ size: 52 }),
    scale: { range: (_, low, high) => [0, Math.max(1, high * 1.1)] }, label: "Rows learned a second",
  });
}

// Points on the diagonal are honest: of rows with 80 % confidence, 80 % are right.
export function calibration(element, bins) {
  if (!bins.length) return empty(element, "Appears when labels come to a model with probabilities.");
  const data = uPlot.join([[[0, 1], [0, 1]], [bins.map((bin) => bin[1]), bins.map((bin) => bin[2])]]);
  draw(element, "calibration", () => ({
    height: 180,
    scales: { x: { time: false, range: () => [0, 1] }, y: { range: () => [0, 1.02] } },
    axes: [axis({ size: 30, values: (_, ticks) => ticks.map((t) => `${Math.round(100 * t)} %`),
      label: "how sure it was", labelFont: "12px system-ui, sans-serif", labelSize: 20 }),
      { ...ofShares(), label: "how often right", labelFont: "12px system-ui, sans-serif", labelSize: 20 }],
    series: [{}, { stroke: colour("--quiet"), dash: [4, 4], width: 1, spanGaps: true, points: { show: false } },
      { stroke: colour("--line-0"), width: 2, spanGaps: true, points: { show: true, size: 9, fill: colour("--line-0") } }],
  }), data);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", "Calibration: " + bins.map((bin) =>
    `${percent(bin[1])} sure, ${percent(bin[2])} right of ${bin[0]}`).join("; "));
}
