// How is each model doing? Asks for the state each second over one connection, and draws it.
import * as charts from "./charts.js";
import { percent } from "./charts.js";

const $ = (id) => document.getElementById(id);
const token = () => sessionStorage.getItem("token");
let chosen = location.hash.slice(1) ? decodeURIComponent(location.hash.slice(1)) : null;
let drawn = "";

function element(name, content = "", attributes = {}) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...(Array.isArray(content) ? content : [content]));
  return made;
}

async function ask(method, path, body) {
  const headers = body ? { "Content-Type": "application/json" } : {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  if (answer.status === 401 && !token()) {
    const given = prompt("This service wants a token:");
    if (given) { sessionStorage.setItem("token", given); return ask(method, path, body); }
  }
  const found = await answer.json();
  if (!answer.ok) {
    if (answer.status === 401) sessionStorage.removeItem("token");
    throw new Error(found.error);
  }
  return found;
}

function say(sentence) {
  $("message").textContent = sentence;
  $("message").hidden = !sentence;
}

function json(text, what) {
  try { return JSON.parse(text); } catch (error) { throw new Error(`${what} is no JSON: ${error.message}.`); }
}

async function attempt(act) {
  try { await act(); say(""); } catch (error) { say(error.message); }
}

const path = (name, verb = "") => `/models/${name.split("/").map(encodeURIComponent).join("/")}${verb}`;
// -- all of it -------------------------------------------------------------------------------------

function draw(state) {
  const names = state.models;
  if (!names.includes(chosen)) chosen = names[0] ?? null;
  menu(names);
  $("welcome").hidden = names.length > 0 && !creating;
  $("new").hidden = names.length === 0;
  $("model").hidden = !state.model;
  $("health").textContent = `event ${state.events.toLocaleString()}`;
  if (!state.model) return;
  const model = state.model;
  const champion = model.versions.find((version) => version.champion);
  const recent = champion.curve.at(-1);
  $("name").textContent = model.name;
  $("begin").hidden = champion.rows > 0;
  if (!champion.rows) $("teach").textContent = teaching(model.name);
  const confident = model.confidence.at(-1);
  const figure = (name, text, id = "") => element("div", [element("dt", name), element("dd", text, { id })]);
  $("figures").replaceChildren(
    figure("error now", recent ? (model.regression ? recent[1].toPrecision(3) : percent(recent[1])) : "–", "error"),
    figure("confidence", confident ? percent(confident[1]) : "–"),
    figure("rows", champion.rows.toLocaleString()),
    figure("rows a second", Math.round(state.rate).toLocaleString()),
    ...(champion.progress < 1 ? [figure("replaying", `${Math.round(100 * champion.progress)} %`, "replaying")] : []));
  charts.error($("curve"), model.versions, state);
  charts.confidence($("confidence"), model.confidence);
  charts.calibration($("calibration"), model.calibration);
  charts.throughput($("throughput"), model.throughput);
  $("versions").replaceChildren(...model.versions.map((version, i) => {
    const mark = element("i");
    mark.style.background = `var(--line-${i % 4})`;
    const mean = version.loss / version.rows;
    const share = version.rows ? `, ${model.regression ? mean.toPrecision(3) : percent(mean)} in all` : "";
    const item = element("li", [mark, `${version.learner}${version.champion ? " (champion)" : ""}${share} `]);
    if (!version.champion) item.append(element("button", "Promote", { className: "small", onclick: () =>
      attempt(() => ask("POST", path(model.name, "/champion"), { version: version.version })) }));
    return item;
  }));
  if (state.alarms.length) $("versions").append(element("li", [element("i", "", { className: "alarm" }), "an alarm"]));
  const amount = (value) => model.regression || value === null ? `${value?.toPrecision(3) ?? "?"}` : percent(value);
  $("alarms").replaceChildren(...state.alarms.map((alarm) => element("li", [
    element("span", charts.clock(alarm.time), { className: "quiet" }), ` ${alarm.what} has changed: `,
    element("b", `${amount(alarm.before)} → ${amount(alarm.after)}`)])));
  $("no-alarms").hidden = state.alarms.length > 0;
  const labels = Object.entries(model.classes).sort((a, b) => b[1] - a[1]).slice(0, 8);
  $("classes").replaceChildren(...labels.map(([label, share]) => bar(label, share, percent(share))));
  mistakes(model);
}

const teaching = (name) =>
  `curl ${location.origin}${path(name, "/learn")} -H content-type:application/json \\
  ${token() ? "-H \"authorization: Bearer $TOKEN\" " : ""}-d '{"row": {"cheap": 1, "pills": 1}, "label": "spam"}'`;

// A button a model; a list where they are many.
let creating = false, menuDrawn = "";
function menu(names) {
  const now = JSON.stringify([names, chosen]);
  if (now === menuDrawn) return;
  menuDrawn = now;
  const choose = (name) => { chosen = name; creating = false; location.hash = encodeURIComponent(name); tick(); };
  if (names.length > 8) {
    const list = element("select", names.map((name) => element("option", name, { selected: name === chosen })),
      { onchange: (event) => choose(event.target.value) });
    list.setAttribute("aria-label", "Model");
    $("models").replaceChildren(list);
    return;
  }
  $("models").replaceChildren(...names.map((name) => {
    const button = element("button", name, { type: "button", onclick: () => choose(name) });
    button.setAttribute("aria-current", name === chosen);
    return button;
  }));
}

function bar(name, share, text) {
  const meter = element("meter", "", { min: 0, max: 1, value: share, className: text.startsWith("-") ? "against" : "" });
  meter.setAttribute("aria-label", `${name}: ${text}`);
  return element("li", [element("span", name, { title: name }), meter, element("span", text)]);
}

function named(name, content) { // on a narrow screen, where the table has no head, the name is shown
  const cell = element("td", content);
  cell.dataset.name = name;
  return cell;
}

function mistakes(model) {
  const now = JSON.stringify(model.mistakes.map((mistake) => mistake.event));
  $("no-mistakes").hidden = model.mistakes.length > 0;
  $("mistakes").hidden = model.mistakes.length === 0;
  if (now === drawn + model.name) return; // who is about to press a button keeps it
  drawn = now + model.name;
  $("mistakes").tBodies[0].replaceChildren(...model.mistakes.map((mistake) => {
    const undo = (label) => attempt(async () => {
      await ask("POST", path(model.name, "/undo"), { events: [mistake.event], ...(label === undefined ? {} : { label }) });
      tick();
    });
    return element("tr", [
      element("td", `${mistake.row}`), named("label", `${mistake.label}`), named("it said", `${mistake.said ?? "–"}`),
      element("td", [
        element("button", "Correct", { className: "small", onclick: () => correct(model, mistake, undo) }), " ",
        element("button", "Undo", { className: "small", onclick: () => undo() }),
      ]),
    ]);
  }));
}

// A class that is an integer stays one.
function correct(model, mistake, act) {
  const known = model.labels.filter((label) => label !== mistake.label);
  $("labels").replaceChildren(...known.map((label) => element("option", "", { value: label })));
  $("label").value = known[0] ?? "";
  $("correct").returnValue = "";
  $("correct").onclose = () => {
    const text = $("label").value;
    if ($("correct").returnValue === "yes" && text) act(known.find((label) => String(label) === text) ?? text);
  };
  $("correct").showModal();
  $("label").select();
}

let asking = false;
async function tick() {
  if (asking) return;
  asking = true;
  try {
    draw(await ask("GET", `/state?model=${encodeURIComponent(chosen ?? "")}`));
    document.documentElement.dataset.ready = "yes";
  } catch (error) { $("health").textContent = `not reached: ${error.message}`; }
  asking = false;
}

$("create").onsubmit = (event) => {
  event.preventDefault();
  const given = new FormData(event.target);
  attempt(async () => {
    await ask("PUT", path(given.get("name")), json(given.get("spec"), "The spec"));
    [chosen, creating] = [given.get("name"), false];
    tick();
  });
};

$("ask").onsubmit = (event) => {
  event.preventDefault();
  attempt(async () => {
    const text = $("row").value.trim();
    const row = text.startsWith("{") ? json(text, "The row") : text;
    const found = await ask("POST", path(chosen, "/predict"), { row, explain: true, ticket: false });
    const parts = found.explanation?.parts ?? [];
    const most = Math.max(1e-9, ...parts.map((part) => Math.abs(part[1] * part[2])));
    const likely = Object.entries(found.probabilities ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 5);
    const list = (items) => element("ul", items, { className: "bars" });
    $("answer").replaceChildren(
      element("p", [element("b", `${found.label ?? "nothing learned yet"}`)]),
      element("p", found.explanation?.problem ?? "", { className: "quiet" }),
      list(likely.map(([label, share]) => bar(label, share, percent(share)))),
      list(parts.slice(0, 8).map(([feature, value, weight]) =>
        bar(feature, Math.abs(value * weight) / most, (value * weight).toFixed(3)))));
  });
};

$("moved").onclick = () => attempt(async () => {
  const state = await ask("GET", `/state?model=${encodeURIComponent(chosen)}`);
  $("moved").textContent = "Looking ...";
  const found = await ask("GET", path(chosen, `/diff?since=${state.model.hour_ago}`))
    .finally(() => { $("moved").textContent = "Look again"; });
  const most = Math.max(1e-9, ...found.weights.map(([, , a, b]) => Math.abs((b ?? 0) - (a ?? 0))));
  $("features").replaceChildren(...found.weights.slice(0, 12).map(([feature, label, a, b]) => {
    const change = (b ?? 0) - (a ?? 0);
    return bar(`${feature} (${label})`, Math.abs(change) / most, `${change > 0 ? "+" : ""}${change.toFixed(3)}`);
  }));
});

const theme = () => localStorage.getItem("theme") ??
  (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const paint = () => { document.documentElement.dataset.theme = theme(); charts.repaint(); };
$("theme").onclick = () => { localStorage.setItem("theme", theme() === "dark" ? "light" : "dark"); paint(); };
$("new").onclick = () => { creating = !creating; tick(); };
paint();
tick();
setInterval(() => { if (!document.hidden) tick(); }, 1000);
