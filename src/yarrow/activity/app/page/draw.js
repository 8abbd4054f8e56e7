// Drawing the state, part by part; only what differs is drawn again.
import { $, bar, element, fill, lasted, midnight, paint, percent, short, time } from "./elements.js";
import { about, moveResource, review } from "./said.js";
import { ask, say } from "./server.js";
import { current, nameOf, view } from "./view.js";

export function draw(next) {
  const moved = next.version !== view.state?.version;
  view.state = next;
  drawCurrent();
  drawThought();
  drawReasons();
  drawDay();
  drawActivities();
  drawFolders();
  drawSources();
  if (moved) drawResources();
}

function drawCurrent() {
  const { activity, since } = view.state.declared;
  const box = $("selector");
  box.classList.remove("of", "of-none");
  paint(box, activity);
  $("current").textContent = nameOf(activity);
  $("since").textContent = activity === null
    ? "Say what you are working on, and Yarrow learns to recognise it."
    : `since ${time(since)}, ${lasted(view.state.now - since)}`;
  const alarm = view.state.alarm;
  document.title = alarm ? `${nameOf(alarm.activity)}? · Yarrow` : `${nameOf(activity)} · Yarrow`;
}

function drawThought() {
  const { alarm, thought, declared } = view.state;
  const wasHidden = $("alarm").hidden;
  $("alarm").hidden = !alarm;
  if (alarm) {
    const question = `Did you switch to ${nameOf(alarm.activity)} at ${time(alarm.since)}? ` +
      `(${percent(alarm.certainty)} sure)`;
    if ($("question").textContent !== question || wasHidden) $("question").textContent = question;
    $("no").replaceChildren(declared.activity === null ? "No " : `No, still ${nameOf(declared.activity)} `, element("kbd", {}, "n"));
  }
  const ranked = thought?.ranked.slice(0, 5) ?? [];
  $("no-thought").hidden = ranked.length > 0;
  $("no-thought").textContent = view.state.activities.length < 2
    ? "It needs at least two activities to choose between."
    : "It has not seen anything yet.";
  fill($("ranked"), ranked, (one) => [one.activity, nameOf(one.activity), percent(one.certainty)], (one, place) =>
    element("li", {}, element("button", {
      "aria-label": `Switch to ${nameOf(one.activity)}; ${percent(one.certainty)} sure`,
      "data-id": `ranked-${one.activity}`,
      onclick: () => say("declare", { activity: one.activity }),
    },
    paint(element("span", { className: "dot" }), one.activity),
    element("span", { className: "text" }, nameOf(one.activity)),
    element("span", { className: "number" }, percent(one.certainty)),
    element("kbd", {}, String(place + 1)),
    bar(one.certainty, one.activity))));
}

const KINDS = { resource: "in front", open: "open beside it" }; // of reasons

function drawReasons() {
  const told = view.state.alarm ?? view.state.thought;
  const reasons = told?.reasons.slice(0, 7) ?? [];
  $("why-title").textContent = told && told.activity !== null ? `Why ${nameOf(told.activity)}` : "Why";
  $("no-reasons").hidden = reasons.length > 0;
  $("no-reasons").textContent = "Words and resources that point to it will appear here.";
  const most = Math.max(...reasons.map((reason) => reason.amount), 1e-9);
  fill($("reasons"), reasons, (one) => [one.what, one.kind, (one.amount / most).toFixed(2)], (one) =>
    element("li", { title: one.what },
      element("div", { className: "row" },
        element("span", { className: "text" }, short(one.what)),
        element("span", { className: "what" }, KINDS[one.kind] ?? one.kind)),
      bar(one.amount / most, told.activity)));
}

function drawDay() {
  const shown = view.day ?? midnight(new Date(view.state.now * 1000));
  const isToday = view.day === null || shown.getTime() === midnight(new Date(view.state.now * 1000)).getTime();
  $("day-title").textContent = isToday ? "Today" : shown.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
  $("later").disabled = isToday;
  const stretches = view.state.stretches;
  const unsure = stretches.filter((one) => one.unsure);
  $("review").hidden = unsure.length === 0;
  $("review").replaceChildren(`${unsure.length} to review `, element("kbd", {}, "r"));
  $("no-day").hidden = stretches.length > 0;
  const hour = 3600;
  const first = Math.floor((stretches[0]?.start ?? shown / 1000 + 9 * hour) / hour) * hour;
  const last = Math.max(Math.ceil(Math.max(stretches.at(-1)?.end ?? 0, isToday ? view.state.now : 0) / hour) * hour, first + 8 * hour);
  const at = (seconds) => `${(100 * (seconds - first)) / (last - first)}%`;
  const width = (one) => (100 * (one.end - one.start)) / (last - first);
  const key = (one) => [one.start, Math.round(one.end / 30), one.activity, about(one), one.unsure, first, last];
  fill($("line"), stretches, key, (one) => {
    const name = one.activity === null ? "Unknown" : nameOf(one.activity);
    const told = `${time(one.start)} to ${time(one.end)}, ${about(one)}`;
    const made = paint(element("button", {
      className: `${one.source}${one.unsure ? " uncertain" : ""}`, title: told, "aria-label": told,
      "data-id": `stretch-${one.start}`, onclick: () => review(one),
    }, (width(one) / 100) * $("line").clientWidth > 44 ? name : ""), one.activity);
    made.style.left = at(one.start);
    made.style.width = `${width(one)}%`;
    return made;
  });
  if (isToday) {
    const line = $("line").querySelector(".now") ?? $("line").appendChild(element("div", { className: "now" }));
    line.style.left = at(view.state.now);
  }
  const step = Math.max(1, Math.ceil(((last - first) / hour) * 58 / Math.max($("line").clientWidth, 1)));
  const hours = Array.from({ length: Math.floor((last - first) / hour / step) + 1 }, (_, place) => first + place * step * hour);
  fill($("hours"), hours.slice(1, -1), (one) => [one, last], (one) => {
    const made = element("span", {}, new Date(one * 1000).toLocaleTimeString([], { hour: "numeric", minute: "2-digit" }));
    made.style.left = at(one);
    return made;
  });
  drawTotals(stretches);
}

function drawTotals(stretches) {
  const sums = new Map();
  for (const one of stretches) sums.set(one.activity, (sums.get(one.activity) ?? 0) + one.end - one.start);
  const sorted = [...sums].filter(([, sum]) => sum >= 30).sort((one, other) => other[1] - one[1]);
  fill($("totals"), sorted, ([id, sum]) => [id, id === null ? "" : nameOf(id), lasted(sum)], ([id, sum]) =>
    element("li", {}, paint(element("span", { className: "dot" }), id),
      id === null ? "Unknown" : nameOf(id), element("span", { className: "number" }, lasted(sum))));
}

function drawActivities() {
  const used = new Map(view.state.stretches.map((one) => [one.activity, one.start])); // of this day, the last
  const shown = view.state.activities.filter((one) => !one.archived)
    .sort((one, other) => (used.get(other.id) ?? 0) - (used.get(one.id) ?? 0) || one.name.localeCompare(other.name));
  fill($("activities"), shown, (one) => [one.id, one.name, one.id === current()], (one) => {
    const made = paint(element("button", {
      "aria-current": one.id === current() ? "true" : null, "data-id": `activity-${one.id}`,
      onclick: () => choose(one.id),
    }, element("span", { className: "dot" }), element("span", { className: "text" }, one.name)), one.id);
    made.addEventListener("dragover", (event) => { event.preventDefault(); made.classList.add("over"); });
    made.addEventListener("dragleave", () => made.classList.remove("over"));
    made.addEventListener("drop", (event) => {
      event.preventDefault();
      made.classList.remove("over");
      const resource = event.dataTransfer.getData("text/plain");
      if (resource) say("associate", { resource, activity: one.id });
    });
    return element("li", {}, made);
  });
}

function choose(id) {
  view.chosen = id === view.state.declared.activity ? null : id;
  drawActivities();
  drawResources();
}

let asked = 0, answered = 0; // times that resources were asked for: answers may overtake each other

// Comes last: afterwards the page shows all of the state, and says which one (data-version).
async function drawResources() {
  const id = current(), { version } = view.state, number = ++asked;
  $("edit").hidden = id === null;
  $("explorer-title").textContent = id === null ? "Resources" : `Resources of ${nameOf(id)}`;
  let found = [];
  if (id !== null) {
    try {
      found = await ask(`/api/resources?activity=${id}`);
    } catch { return; } // the next state asks again
  }
  if (id !== current() || number < answered) return;
  answered = number;
  const opened = found.filter((one) => one.openable).slice(0, 12).length;
  $("open-all").hidden = opened === 0;
  $("open-all").replaceChildren(`Open ${opened === 1 ? "it" : `the newest ${opened}`} `, element("kbd", {}, "o"));
  $("no-resources").hidden = found.length > 0;
  $("no-resources").textContent = id === null ? "Declare an activity first." : "Documents and pages that you use will appear here.";
  const key = (one) => [one.resource, one.title, Math.round(one.last_used / 60), Math.round(one.seconds / 60), one.explicit, id];
  fill($("resources"), found.slice(0, 60), key, (one) => resourceRow(one, id));
  document.documentElement.dataset.version = version;
}

function resourceRow(one, id) {
  const open = element("button", { onclick: () => say("open", { resource: one.resource }), tabIndex: -1 }, "Open");
  const move = element("button", { onclick: () => moveResource(one), tabIndex: -1, "aria-label": `Move ${one.title || short(one.resource)} to another activity` }, "Move");
  const made = element("li", { draggable: true, tabIndex: 0, title: one.resource, "data-id": `resource-${one.resource}` },
    element("div", { className: "about" },
      element("div", { className: "text" }, one.title || short(one.resource)),
      element("div", { className: "place" }, `${short(one.resource)} · ${when(one.last_used)} · ${lasted(one.seconds)}`)),
    one.explicit ? paint(element("span", { className: "pin", title: "You put it here" }, "●"), id) : null,
    one.openable ? open : null, move);
  made.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", one.resource));
  made.addEventListener("keydown", (event) => {
    if (event.target !== made) return;
    if (event.key === "Enter") one.openable && say("open", { resource: one.resource });
    else if (event.key === "m") moveResource(one);
    else if (event.key === "ArrowDown") made.nextElementSibling?.focus();
    else if (event.key === "ArrowUp") made.previousElementSibling?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return made;
}

function when(seconds) {
  const days = Math.round((midnight(new Date(view.state.now * 1000)) - midnight(new Date(seconds * 1000))) / 86400000);
  if (days === 0) return time(seconds);
  return days === 1 ? "yesterday" : new Date(seconds * 1000).toLocaleDateString([], { day: "numeric", month: "short" });
}

function drawFolders() {
  $("no-folders").hidden = view.state.folders.length > 0;
  fill($("folders"), view.state.folders, (one) => [one.folder, percent(one.probability)], (one) =>
    element("li", { title: one.folder },
      element("div", { className: "row" }, element("code", {}, short(one.folder)),
        element("span", { className: "number" }, percent(one.probability))),
      bar(one.probability, view.state.declared.activity)));
}

function drawSources() {
  fill($("sources"), view.state.sources, (one) => [one.sentence, one.ok], (one) =>
    element("span", { className: one.ok ? "" : "trouble" }, one.sentence));
  $("pause").hidden = !view.state.demo;
  $("pause").firstChild.textContent = view.state.paused ? "Resume " : "Pause ";
}
