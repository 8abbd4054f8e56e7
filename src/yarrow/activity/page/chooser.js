// Choosing an activity: in the field on the page, or in a dialog.
import { $, element, paint, percent } from "./elements.js";
import { say } from "./server.js";
import { view } from "./view.js";

// A field with a list below it: type to filter, arrows to move, Enter to take or to create.
function chooserOf(input, list, take) {
  let place = 0;
  const found = () => {
    const text = input.value.trim().toLowerCase();
    const sure = new Map((view.state?.thought?.ranked ?? []).map((one) => [one.activity, one.certainty]));
    const all = (view.state?.activities ?? []).filter((one) => !one.archived && one.name.toLowerCase().includes(text))
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
  view.chosen = null;
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
export function pick(title, about, take, { forget = null, since = null } = {}) {
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
