// The page: it draws the state that the server sends, and sends back what the person says.
// It decides nothing by itself, so that two pages never disagree.
import { draw } from "./draw.js";
import { $ } from "./elements.js";
import { start } from "./live.js";
import { accept, correct, edit, openAll, refuse, reviewNext, turn } from "./said.js";
import { say } from "./server.js";
import { view } from "./view.js";

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
  s: () => $("switch-to").focus(), "?": () => $("keys").showModal(), " ": () => view.state?.demo && say("pause", {}),
  e: () => $("resources").querySelector("li")?.focus(),
};
document.addEventListener("keydown", (event) => {
  const inField = event.target.matches("input, button, dialog *") && !(event.target.matches("button") && event.key !== "Enter" && event.key !== " ");
  if (inField || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const ranked = /^[1-5]$/.test(event.key) && view.state?.thought?.ranked[Number(event.key) - 1];
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

start(draw);
