// The page: it draws the state that the server sends, and sends back what the person says.
// It decides nothing by itself, so that two pages never disagree.

const $ = (id) => document.getElementById(id);
let state = null;
let day = null; // midnight of the day shown; null: today
let chosen = null; // the activity whose resources are shown; null: the current one
let listened = null; // the request that listens to the server

// -- talking to the server ---------------------------------------------------------------------

// The token comes in the address, behind "#", where it is never sent; then this page keeps it.
function token() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    localStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return localStorage.getItem("token") ?? "";
}
const headers = { Authorization: `Bearer ${token()}`, "Content-Type": "application/json" };

async function ask(path, body) {
  const how = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(path, how);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

async function say(what, body) {
  try {
    await ask(`/api/${what}`, body);
    tell("");
    return true;
  } catch (error) {
    tell(error.message);
    return false;
  }
}

function tell(sentence) {
  $("message").textContent = sentence;
  $("message").hidden = !sentence;
}

function span() {
  const start = day ?? midnight(state ? new Date(state.now * 1000) : new Date());
  const end = new Date(start);
  end.setDate(end.getDate() + 1); // not 24 hours where clocks change
  return `start=${start / 1000}&end=${end / 1000}`;
}

function midnight(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

// Server-sent events, read by fetch: EventSource cannot send the token in a header.
async function listen() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    listened = new AbortController();
    try {
      const answer = await fetch(`/api/live?${span()}`, { headers, signal: listened.signal });
      if (answer.status === 401) {
        tell("This page has no key, or an old one. Open the address that 'yarrow activity run' printed.");
        return;
      }
      if (!answer.ok) throw new Error((await answer.json()).error);
      wait = 500;
      tell("");
      let text = "";
      for await (const part of parts(answer.body.pipeThrough(new TextDecoderStream()))) {
        text += part;
        const events = text.split("\n\n");
        text = events.pop();
        const newest = events.filter((event) => event.startsWith("data: ")).pop();
        if (newest) draw(JSON.parse(newest.slice(6)));
      }
    } catch (error) {
      if (error.name === "AbortError") continue;
    }
    tell("The program does not answer. Is 'yarrow activity run' running? Trying again …");
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function* parts(stream) { // not every browser can iterate over a stream
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

// -- small helpers ------------------------------------------------------------------------------

function element(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name in made) made[name] = value;
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Redraws only what differs: a list that is the same keeps its focus and its scroll position.
function fill(list, items, key, make) {
  const keys = JSON.stringify(items.map(key));
  if (list.dataset.keys === keys) return;
  list.dataset.keys = keys;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  list.replaceChildren(...items.map(make));
  if (focused) [...list.querySelectorAll("[data-id]")].find((one) => one.dataset.id === focused)?.focus();
}

function paint(made, id) {
  made.classList.add(id === null || id === undefined ? "of-none" : "of");
  // The golden angle: neighbours in number are far apart in colour.
  if (id !== null && id !== undefined) made.style.setProperty("--hue", (150 + id * 137.508) % 360);
  return made;
}

const nameOf = (id) => state.activities.find((one) => one.id === id)?.name ?? "Nothing declared";
const time = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const percent = (share) => `${Math.round(100 * share)} %`;
const current = () => chosen ?? state.declared.activity;

function lasted(seconds) {
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
}

function bar(share, id) {
  const inner = element("i");
  inner.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  return paint(element("div", { className: "bar" }, inner), id);
}

// -- drawing ------------------------------------------------------------------------------------

function draw(next) {
  const first = state === null;
  const moved = first || next.version !== state.version;
  const today = state && midnight(new Date(state.now * 1000)).getTime();
  state = next;
  if (day === null && (first ? span() !== spanOf(next) : today !== midnight(new Date(next.now * 1000)).getTime())) {
    listened.abort(); // another day has begun, or the clock of a demo is not ours
  }
  drawCurrent();
  drawThought();
  drawReasons();
  drawDay();
  drawActivities();
  drawFolders();
  drawSources();
  if (moved) drawResources();
}

const spanOf = (next) => `start=${next.start}&end=${next.end}`;

function drawCurrent() {
  const { activity, since } = state.declared;
  const box = $("selector");
  box.classList.remove("of", "of-none");
  paint(box, activity);
  $("current").textContent = nameOf(activity);
  $("since").textContent = activity === null
    ? "Say what you are working on, and the program learns to tell."
    : `since ${time(since)}, ${lasted(state.now - since)}`;
  const alarm = state.alarm;
  document.title = alarm ? `${nameOf(alarm.activity)}? · Yarrow` : `${nameOf(activity)} · Yarrow`;
}

function drawThought() {
  const { alarm, thought, declared } = state;
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
  $("no-thought").textContent = state.activities.length < 2
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

function drawReasons() {
  const told = state.alarm ?? state.thought;
  const reasons = told?.reasons.slice(0, 7) ?? [];
  $("why-title").textContent = told && told.activity !== null ? `Why ${nameOf(told.activity)}` : "Why";
  $("no-reasons").hidden = reasons.length > 0;
  $("no-reasons").textContent = "Words and resources that spoke for it will stand here.";
  const most = Math.max(...reasons.map((reason) => Math.abs(reason.amount)), 1e-9);
  fill($("reasons"), reasons, (one) => [one.text, one.what, (one.amount / most).toFixed(2)], (one) =>
    element("li", { className: one.amount < 0 ? "against" : "", title: one.text },
      element("div", { className: "row" },
        element("span", { className: "text" }, short(one.text)),
        element("span", { className: "what" }, one.amount < 0 ? `${one.what}, against` : one.what)),
      bar(Math.abs(one.amount) / most, told.activity)));
}

// A path or an address by its end, which is what differs.
function short(name) {
  if (/^https?:/.test(name)) return name.replace(/^https?:\/\/(www\.)?/, "");
  if (name.startsWith("window:")) return name.slice(name.indexOf("/") + 1);
  const parts = name.split("/");
  return parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : name;
}

function drawDay() {
  const shown = day ?? midnight(new Date(state.now * 1000));
  const isToday = day === null || shown.getTime() === midnight(new Date(state.now * 1000)).getTime();
  $("day-title").textContent = isToday ? "Today" : shown.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
  $("later").disabled = isToday;
  const stretches = state.stretches;
  const unsure = stretches.filter((one) => one.unsure);
  $("review").hidden = unsure.length === 0;
  $("review").replaceChildren(`${unsure.length} to review `, element("kbd", {}, "r"));
  $("no-day").hidden = stretches.length > 0;
  const hour = 3600;
  const first = Math.floor((stretches[0]?.start ?? shown / 1000 + 9 * hour) / hour) * hour;
  const last = Math.max(Math.ceil(Math.max(stretches.at(-1)?.end ?? 0, isToday ? state.now : 0) / hour) * hour, first + 8 * hour);
  const at = (seconds) => `${(100 * (seconds - first)) / (last - first)}%`;
  const width = (one) => (100 * (one.end - one.start)) / (last - first);
  const key = (one) => [one.start, Math.round(one.end / 30), one.activity, nameOf(one.activity), one.unsure, one.how, first, last];
  fill($("line"), stretches, key, (one) => {
    const name = one.activity === null ? "Unknown" : nameOf(one.activity);
    const told = `${time(one.start)} to ${time(one.end)}, ${about(one)}`;
    const made = paint(element("button", {
      className: `${one.how}${one.unsure ? " uncertain" : ""}`, title: told, "aria-label": told,
      "data-id": `stretch-${one.start}`, onclick: () => review(one),
    }, (width(one) / 100) * $("line").clientWidth > 44 ? name : ""), one.activity);
    made.style.left = at(one.start);
    made.style.width = `${width(one)}%`;
    return made;
  });
  if (isToday) {
    const line = $("line").querySelector(".now") ?? $("line").appendChild(element("div", { className: "now" }));
    line.style.left = at(state.now);
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

function about(one) {
  if (one.activity === null) return "not known";
  const doubt = one.unsure && one.thought !== one.activity && one.thought !== null
    ? `, but it looks like ${nameOf(one.thought)}` : "";
  return `${nameOf(one.activity)}, ${one.how}, ${percent(one.certainty)} sure${doubt}`;
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
  const used = new Map(state.stretches.map((one) => [one.activity, one.start])); // of this day, the last
  const shown = state.activities.filter((one) => !one.archived)
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
  chosen = id === state.declared.activity ? null : id;
  drawActivities();
  drawResources();
}

async function drawResources() {
  const id = current();
  $("edit").hidden = id === null;
  $("explorer-title").textContent = id === null ? "Resources" : `Resources of ${nameOf(id)}`;
  let found = [];
  if (id !== null) {
    try {
      found = await ask(`/api/resources?activity=${id}`);
    } catch { return; } // the next state asks again
  }
  if (id !== current()) return;
  const opened = found.filter((one) => one.openable).slice(0, 12).length;
  $("open-all").hidden = opened === 0;
  $("open-all").replaceChildren(`Open ${opened === 1 ? "it" : `the newest ${opened}`} `, element("kbd", {}, "o"));
  $("no-resources").hidden = found.length > 0;
  $("no-resources").textContent = id === null ? "Declare an activity first." : "What you work with will stand here.";
  const key = (one) => [one.resource, one.title, Math.round(one.last / 60), Math.round(one.seconds / 60), one.explicit, id];
  fill($("resources"), found.slice(0, 60), key, (one) => resourceRow(one, id));
}

function resourceRow(one, id) {
  const open = element("button", { onclick: () => say("open", { resource: one.resource }), tabIndex: -1 }, "Open");
  const move = element("button", { onclick: () => moveResource(one), tabIndex: -1, "aria-label": `Move ${one.title || short(one.resource)} to another activity` }, "Move");
  const made = element("li", { draggable: true, tabIndex: 0, title: one.resource, "data-id": `resource-${one.resource}` },
    element("div", { className: "about" },
      element("div", { className: "text" }, one.title || short(one.resource)),
      element("div", { className: "place" }, `${short(one.resource)} · ${when(one.last)} · ${lasted(one.seconds)}`)),
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
  const days = Math.round((midnight(new Date(state.now * 1000)) - midnight(new Date(seconds * 1000))) / 86400000);
  if (days === 0) return time(seconds);
  return days === 1 ? "yesterday" : new Date(seconds * 1000).toLocaleDateString([], { day: "numeric", month: "short" });
}

function drawFolders() {
  $("no-folders").hidden = state.folders.length > 0;
  fill($("folders"), state.folders, (one) => [one.folder, percent(one.probability)], (one) =>
    element("li", { title: one.folder },
      element("div", { className: "row" }, element("code", {}, short(one.folder)),
        element("span", { className: "number" }, percent(one.probability))),
      bar(one.probability, state.declared.activity)));
}

function drawSources() {
  fill($("sources"), state.sources, (one) => [one.sentence, one.ok], (one) =>
    element("span", { className: one.ok ? "" : "trouble" }, one.sentence));
  $("pause").hidden = !state.demo;
  $("pause").firstChild.textContent = state.paused ? "Go on " : "Pause ";
}

// -- choosing an activity -----------------------------------------------------------------------

// A field with a list below it: type to filter, arrows to move, Enter to take or to create.
function chooserOf(input, list, take) {
  let place = 0;
  const found = () => {
    const text = input.value.trim().toLowerCase();
    const sure = new Map((state?.thought?.ranked ?? []).map((one) => [one.activity, one.certainty]));
    const all = (state?.activities ?? []).filter((one) => !one.archived && one.name.toLowerCase().includes(text))
      .map((one) => ({ ...one, sure: sure.get(one.id) ?? 0 }))
      .sort((one, other) => other.sure - one.sure);
    const exact = all.some((one) => one.name.toLowerCase() === text);
    return text && !exact ? [...all, { id: null, name: input.value.trim() }] : all;
  };
  const show = () => {
    const all = found();
    place = Math.max(0, Math.min(place, all.length - 1));
    list.replaceChildren(...all.map((one, number) => {
      const made = element("li", { role: "option", id: `${list.id}-${number}`, "aria-selected": String(number === place) },
        paint(element("span", { className: "dot" }), one.id),
        one.id === null ? `New: ${one.name}` : one.name,
        one.sure ? element("span", { className: "sure" }, percent(one.sure)) : null);
      made.addEventListener("mousedown", (event) => { event.preventDefault(); done(one); });
      return made;
    }));
    input.setAttribute("aria-activedescendant", all.length ? `${list.id}-${place}` : "");
    list.children[place]?.scrollIntoView({ block: "nearest" });
  };
  const done = (one) => {
    input.value = "";
    place = 0;
    take(one.id === null ? { name: one.name } : { activity: one.id });
  };
  input.addEventListener("input", () => { place = 0; show(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") place += 1;
    else if (event.key === "ArrowUp") place -= 1;
    else if (event.key === "Enter") {
      event.preventDefault();
      const one = found()[place];
      if (one) done(one);
      return;
    } else return;
    event.preventDefault();
    show();
  });
  return () => { place = 0; show(); };
}

const showChoices = chooserOf($("switch-to"), $("choices"), (which) => {
  $("switch-to").blur();
  chosen = null;
  say("declare", which);
});
function openChoices(open) {
  $("choices").hidden = !open;
  $("switch-to").setAttribute("aria-expanded", String(open));
  if (open) showChoices();
}
$("switch-to").addEventListener("focus", () => openChoices(true));
$("switch-to").addEventListener("blur", () => openChoices(false));
$("switch-to").addEventListener("keydown", (event) => { if (event.key === "Escape") { $("switch-to").value = ""; $("switch-to").blur(); } });
$("switch").addEventListener("submit", (event) => event.preventDefault());

let takeChosen = () => {};
let forgetChosen = null;
const showChooser = chooserOf($("chooser-input"), $("chooser-choices"), (which) => {
  $("chooser").close();
  takeChosen(which);
});
function pick(title, about, take, { forget = null, since = null } = {}) {
  takeChosen = take;
  forgetChosen = forget;
  $("chooser-title").textContent = title;
  $("chooser-about").textContent = about;
  $("chooser-forget").hidden = !forget;
  $("chooser-when").hidden = since === null;
  if (since !== null) $("chooser-since").value = new Date(since * 1000).toTimeString().slice(0, 5);
  $("chooser-input").value = "";
  $("chooser").showModal();
  showChooser();
  $("chooser-input").focus();
}
$("chooser-cancel").addEventListener("click", () => $("chooser").close());
$("chooser-forget").addEventListener("click", () => { $("chooser").close(); forgetChosen(); });

// -- what the person says -----------------------------------------------------------------------

const accept = () => state?.alarm && say("accept", { alarm: state.alarm.id });
const refuse = () => state?.alarm && say("refuse", { alarm: state.alarm.id });

function correct() {
  if (!state) return;
  const since = state.alarm?.since ?? state.declared.since ?? state.now;
  pick("What are you working on?", "", (which) => say("correct", { ...which, since: chosenSince(since) }), { since });
}

// The time in the field: as it was given if it was not changed, since the field knows no seconds.
function chosenSince(given) {
  const [hours, minutes] = $("chooser-since").value.split(":").map(Number);
  const was = new Date(given * 1000);
  if (Number.isNaN(minutes) || (hours === was.getHours() && minutes === was.getMinutes())) return given;
  const said = midnight(new Date(state.now * 1000));
  said.setHours(hours, minutes);
  return Math.min(said / 1000, state.now);
}

function review(one) {
  pick(`What was ${time(one.start)} to ${time(one.end)}?`, `So far: ${about(one)}.`,
    (which) => say("correct", { ...which, since: one.start, until: one.end }),
    { forget: () => confirm(`Forget all that was recorded from ${time(one.start)} to ${time(one.end)}?`) &&
      say("forget", { start: one.start, end: one.end }) });
}

function reviewNext() {
  const one = state?.stretches.find((one) => one.unsure);
  if (one) review(one);
}

function moveResource(one) {
  pick("Which activity does it belong to?", one.title || one.resource,
    (which) => say("associate", { ...which, resource: one.resource }),
    { forget: () => confirm(`Forget ${one.title || one.resource} wherever it was recorded?`) &&
      say("forget", { resource: one.resource }) });
}

function openAll() {
  if (state && current() !== null && !$("open-all").hidden) say("open-all", { activity: current() });
}

function turn(days) {
  const from = day ?? midnight(new Date(state.now * 1000));
  const next = new Date(from);
  next.setDate(next.getDate() + days);
  const today = midnight(new Date(state.now * 1000));
  if (next > today) return;
  day = next.getTime() === today.getTime() ? null : next;
  listened.abort();
}

function edit() {
  const id = current();
  $("editor-title").textContent = nameOf(id);
  $("editor-name").value = nameOf(id);
  $("editor").showModal();
  $("editor-name").select();
}
$("editor-rename").addEventListener("click", async () => {
  if (await say("rename", { activity: current(), name: $("editor-name").value })) $("editor").close();
});
$("editor-name").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  $("editor-rename").click();
});
$("editor-archive").addEventListener("click", () => { say("archive", { activity: current() }); chosen = null; $("editor").close(); });
$("editor-merge").addEventListener("click", () => {
  const id = current();
  $("editor").close();
  pick(`Merge ${nameOf(id)} into which activity?`, "All that belongs to it will belong to the other.",
    (which) => { chosen = null; say("merge", { activity: id, into: which.activity ?? null }); });
});
$("editor-cancel").addEventListener("click", () => $("editor").close());

$("yes").addEventListener("click", accept);
$("no").addEventListener("click", refuse);
$("other").addEventListener("click", correct);
$("review").addEventListener("click", reviewNext);
$("open-all").addEventListener("click", openAll);
$("edit").addEventListener("click", edit);
$("earlier").addEventListener("click", () => turn(-1));
$("later").addEventListener("click", () => turn(1));
$("keys-button").addEventListener("click", () => $("keys").showModal());
$("pause").addEventListener("click", () => say("pause", {}));

const KEYS = {
  y: accept, Enter: accept, n: refuse, c: correct, r: reviewNext, o: openAll, "[": () => turn(-1), "]": () => turn(1),
  s: () => $("switch-to").focus(), "?": () => $("keys").showModal(), " ": () => state?.demo && say("pause", {}),
  e: () => $("resources").querySelector("li")?.focus(),
};
document.addEventListener("keydown", (event) => {
  const inField = event.target.matches("input, button, dialog *") && !(event.target.matches("button") && event.key !== "Enter" && event.key !== " ");
  if (inField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const ranked = /^[1-5]$/.test(event.key) && state?.thought?.ranked[Number(event.key) - 1];
  if (!ranked && !KEYS[event.key]) return;
  event.preventDefault();
  if (ranked) say("declare", { activity: ranked.activity });
  else KEYS[event.key]();
});

// -- themes -------------------------------------------------------------------------------------

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light theme" : "Dark theme";
}
theme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").addEventListener("click", () => {
  theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  localStorage.setItem("theme", document.documentElement.dataset.theme);
});

listen();
