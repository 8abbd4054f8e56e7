// How is each model doing? Asks for the state each second over one connection, and draws it.
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

async function attempt(act) {
  try { await act(); say(""); } catch (error) { say(error.message); }
}

const path = (name, verb = "") => `/models/${name.split("/").map(encodeURIComponent).join("/")}${verb}`;
const percent = (share) => `${(100 * share).toFixed(1)} %`;

// -- the curve: the error in windows of time, a line a version -------------------------------------

function curve(versions) {
  const lines = versions.map((version) => version.curve);
  const times = lines.flat().map((point) => point[0]);
  const first = Math.min(...times), last = Math.max(...times);
  const top = Math.max(0.05, ...lines.flat().map((point) => point[1]));
  const width = 1000, height = 200;
  const x = (time) => (width * (time - first)) / Math.max(1e-9, last - first);
  const y = (error) => height - (height * error) / top;
  const paths = lines.map((line, i) => line.length < 2 ? "" :
    `<path style="stroke: var(--line-${i % 4})" d="M${line.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join("L")}"/>`);
  const grid = [0, 0.5, 1].map((part) => `<line x1="0" x2="${width}" y1="${height * part}" y2="${height * part}"/>`);
  const shown = times.length > 1;
  $("curve").innerHTML = !shown ? '<p class="quiet">The error over time appears when labels come.</p>' :
    `<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img"
      aria-label="Error over time, at most ${percent(top)}">${grid.join("")}${paths.join("")}</svg>
     <p class="axis"><span>${new Date(first * 1000).toLocaleTimeString()}</span>
       <span>error, up to ${percent(top)}</span><span>${new Date(last * 1000).toLocaleTimeString()}</span></p>`;
}

// -- all of it -------------------------------------------------------------------------------------

function draw(state) {
  const names = state.models;
  if (!names.includes(chosen)) chosen = names[0] ?? null;
  $("models").replaceChildren(...names.slice(0, 12).map((name) => {
    const button = element("button", name, { type: "button", onclick: () => { chosen = name; location.hash = encodeURIComponent(name); tick(); } });
    button.setAttribute("aria-current", name === chosen);
    return button;
  }));
  $("welcome").hidden = names.length > 0;
  $("model").hidden = !state.model;
  $("health").textContent = `event ${state.events.toLocaleString()}`;
  if (!state.model) return;
  const model = state.model;
  const champion = model.versions.find((version) => version.champion);
  const recent = champion.curve.at(-1);
  $("name").textContent = model.name;
  $("figures").replaceChildren(
    element("b", recent ? percent(recent[1]) : "–", { id: "error" }), " error now",
    element("span", `${champion.rows.toLocaleString()} rows, ${Math.round(state.rate)}/s`),
    element("span", champion.progress < 1 ? `replaying ${Math.round(100 * champion.progress)} %` : ""));
  curve(model.versions);
  $("versions").replaceChildren(...model.versions.map((version, i) => {
    const mark = element("i");
    mark.style.background = `var(--line-${i % 4})`;
    const share = version.rows ? `, ${percent(version.loss / version.rows)} in all` : "";
    const item = element("li", [mark, `${version.learner}${version.champion ? " (champion)" : ""}${share} `]);
    if (!version.champion) item.append(element("button", "Promote", { className: "small", onclick: () =>
      attempt(() => ask("POST", path(model.name, "/champion"), { version: version.version })) }));
    return item;
  }));
  $("alarms").replaceChildren(...state.alarms.map((alarm) => element("li",
    `${new Date(alarm.time * 1000).toLocaleTimeString()} ${alarm.what} has changed: ` +
    `${alarm.before?.toFixed(3)} → ${alarm.after?.toFixed(3)}`)));
  const labels = Object.entries(model.classes).sort((a, b) => b[1] - a[1]).slice(0, 8);
  $("classes").replaceChildren(...labels.map(([label, share]) => bar(label, share, percent(share))));
  mistakes(model);
}

function bar(name, share, text) {
  const meter = element("meter", "", { min: 0, max: 1, value: share });
  meter.setAttribute("aria-label", `${name}: ${text}`);
  return element("li", [element("span", name, { title: name }), meter, element("span", text)]);
}

function mistakes(model) {
  const now = JSON.stringify(model.mistakes.map((mistake) => mistake.event));
  $("no-mistakes").hidden = model.mistakes.length > 0;
  if (now === drawn + model.name) return; // who is about to press a button keeps it
  drawn = now + model.name;
  $("mistakes").tBodies[0].replaceChildren(...model.mistakes.map((mistake) => {
    const undo = (label) => attempt(async () => {
      await ask("POST", path(model.name, "/undo"), { events: [mistake.event], ...(label ? { label } : {}) });
      tick();
    });
    return element("tr", [
      element("td", `${mistake.row}`), element("td", `label ${mistake.label}`),
      element("td", [
        element("button", "Correct", { className: "small", onclick: () => {
          const label = prompt("The right label:", mistake.label);
          if (label) undo(label);
        } }), " ",
        element("button", "Undo", { className: "small", onclick: () => undo() }),
      ]),
    ]);
  }));
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
    await ask("PUT", path(given.get("name")), JSON.parse(given.get("spec")));
    tick();
  });
};

$("ask").onsubmit = (event) => {
  event.preventDefault();
  attempt(async () => {
    const text = $("row").value.trim();
    const row = text.startsWith("{") ? JSON.parse(text) : text;
    const found = await ask("POST", path(chosen, "/predict"), { row, explain: true, ticket: false });
    const parts = found.explanation?.parts ?? [];
    const most = Math.max(1e-9, ...parts.map((part) => Math.abs(part[1] * part[2])));
    const likely = Object.entries(found.probabilities ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 5);
    const list = element("ul", [
      ...likely.map(([label, share]) => bar(label, share, percent(share))),
      ...parts.slice(0, 8).map(([feature, value, weight]) =>
        bar(feature, Math.abs(value * weight) / most, (value * weight).toFixed(3))),
    ], { className: "bars" });
    $("answer").replaceChildren(element("p", [element("b", `${found.label ?? "nothing learned yet"}`)]), list);
  });
};

$("moved").onclick = () => attempt(async () => {
  const state = await ask("GET", `/state?model=${encodeURIComponent(chosen)}`);
  const found = await ask("GET", path(chosen, `/diff?since=${state.model.hour_ago}`));
  const most = Math.max(1e-9, ...found.weights.map(([, , a, b]) => Math.abs((b ?? 0) - (a ?? 0))));
  $("features").replaceChildren(...found.weights.slice(0, 12).map(([feature, label, a, b]) => {
    const change = (b ?? 0) - (a ?? 0);
    return bar(`${feature} (${label})`, Math.abs(change) / most, `${change > 0 ? "+" : ""}${change.toFixed(3)}`);
  }));
});

const theme = () => localStorage.getItem("theme") ??
  (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const paint = () => { document.documentElement.dataset.theme = theme(); };
$("theme").onclick = () => { localStorage.setItem("theme", theme() === "dark" ? "light" : "dark"); paint(); };
paint();
tick();
setInterval(() => { if (!document.hidden) tick(); }, 1000);
