// Choosing an activity: in the field on the page, or in a dialog.
import { $, element, paint, percent } from "./elements.js";
import { say } from "./server.js";
import { view } from "./view.js";

const plain = (text) => text.trim().split(/\s+/).join(" "); // as the server reads a name

// A field with a list below it: type to filter, arrows to move, Enter to take or to create.
// `about` tells, when the list opens, what is being answered:
//   ranked: what it is taken for, the likeliest first, with how sure that is
//   passed: activities that are not marked unless somebody types or moves to them
//   without: activities that are no answer
//   creates: whether a new name is one
// What is marked is what Enter takes, and nothing that happens meanwhile changes the list.
function chooserOf(input, list, take, about) {
  let place = -1, shown = [], asked = {};
  const found = () => {
    const text = plain(input.value).toLowerCase();
    const { ranked, without, creates } = asked;
    const rank = new Map(ranked.map((one, number) => [one.activity, number]).reverse());
    const sure = new Map(ranked.map((one) => [one.activity, one.certainty]).reverse());
    const isExact = (one) => one.name.toLowerCase() === text;
    const all = asked.activities.filter((one) => !without.includes(one.id) &&
        (isExact(one) || (!one.archived && one.name.toLowerCase().includes(text))))
      .map((one) => ({ ...one, sure: sure.get(one.id) ?? 0 }))
      .sort((one, other) => isExact(other) - isExact(one) || (rank.get(one.id) ?? Infinity) - (rank.get(other.id) ?? Infinity) || 0);
    return text && creates && !asked.activities.some(isExact) ? [...all, { id: null, name: plain(input.value) }] : all;
  };
  const show = () => {
    list.replaceChildren(...shown.map((one, number) => {
      const made = element("li", { role: "option", id: `${list.id}-${number}`, "aria-selected": String(number === place) },
        paint(element("span", { className: "dot" }), one.id),
        one.id === null ? `New: ${one.name}` : one.archived ? `${one.name} (archived)` : one.name,
        one.sure ? element("span", { className: "sure" }, percent(one.sure)) : null);
      made.addEventListener("mousedown", (event) => { event.preventDefault(); done(one); });
      return made;
    }));
    input.setAttribute("aria-activedescendant", shown[place] ? `${list.id}-${place}` : "");
    list.children[place]?.scrollIntoView({ block: "nearest" });
  };
  const done = (one) => {
    input.value = "";
    take(one.id === null ? { name: one.name } : { activity: one.id });
  };
  const search = () => {
    shown = found();
    // Before anything is typed only what it is taken for is marked: of the others, none is likelier than the next.
    const isLikely = (one) => !asked.passed.includes(one.id) && asked.ranked.some((rank) => rank.activity === one.id);
    place = plain(input.value) ? 0 : shown.findIndex(isLikely);
    show();
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (shown[place]) done(shown[place]);
      return;
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    place = Math.max(0, Math.min(place + (event.key === "ArrowDown" ? 1 : -1), shown.length - 1));
    show();
  });
  return () => {
    asked = { ranked: [], passed: [], without: [], creates: true, activities: view.state?.activities ?? [], ...about() };
    search();
  };
}

const showChoices = chooserOf($("switch-to"), $("choices"), (which) => {
  $("switch-to").blur();
  view.chosen = null;
  say("declare", which);
}, () => ({
  ranked: view.state?.thought?.ranked ?? [],
  passed: [view.state?.declared.activity, view.state?.correction.refused],
}));
function openChoices(open) {
  $("choices").hidden = !open;
  $("switch-to").setAttribute("aria-expanded", String(open));
  if (open) showChoices();
}
$("switch-to").addEventListener("focus", () => openChoices(true));
$("switch-to").addEventListener("blur", () => openChoices(false));
$("switch-to").addEventListener("keydown", (event) => { if (event.key === "Escape") { $("switch-to").value = ""; $("switch-to").blur(); } });
$("switch").addEventListener("submit", (event) => event.preventDefault());

let question = {};
const showChooser = chooserOf($("chooser-input"), $("chooser-choices"), (which) => {
  $("chooser").close();
  question.take(which);
}, () => question);
export function pick(title, about, take, more = {}) {
  question = { take, ...more };
  const { forget, since } = more;
  $("chooser-title").textContent = title;
  $("chooser-about").textContent = about;
  $("chooser-forget").hidden = !forget;
  $("chooser-when").hidden = since === undefined;
  if (since !== undefined) $("chooser-since").value = new Date(since * 1000).toTimeString().slice(0, 5);
  $("chooser-input").value = "";
  $("chooser-input").placeholder = more.creates === false ? "Type to find" : "Type to find, or name a new one";
  $("chooser").showModal();
  showChooser();
  $("chooser-input").focus();
}
$("chooser-cancel").addEventListener("click", () => $("chooser").close());
$("chooser-forget").addEventListener("click", () => { $("chooser").close(); question.forget(); });
