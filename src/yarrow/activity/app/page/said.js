// What the person says: answers, corrections, and what becomes of activities and resources.
import { pick } from "./chooser.js";
import { $, midnight, percent, time } from "./elements.js";
import { refresh } from "./live.js";
import { say } from "./server.js";
import { current, nameOf, view } from "./view.js";

export function about(one) {
  if (one.activity === null) return one.ranked.length ? `not known; it looks like ${nameOf(one.ranked[0].activity)}` : "not known";
  const thought = one.ranked[0]?.activity ?? one.activity;
  const doubt = thought === one.activity ? "" : `, but it looks like ${nameOf(thought)}`;
  return `${nameOf(one.activity)}, ${one.source}, ${percent(one.certainty)} sure${doubt}`;
}

export const accept = () => view.state?.alarm && say("accept", { alarm: view.state.alarm.id });
export const refuse = () => view.state?.alarm && say("refuse", { alarm: view.state.alarm.id });

export function correct() {
  if (!view.state) return;
  const { alarm, correction, declared, thought } = view.state;
  const { since, ranked, refused } = correction;
  const now = (thought?.ranked ?? []).map(({ activity }) => ({ activity, certainty: 0 })); // where the time since tells nothing
  pick("What are you working on?", "", (which) => say("correct", { ...which, since: chosenSince(since) }),
    { since, ranked: [...ranked, ...now], passed: [declared.activity, alarm?.activity, refused] });
}

// The time in the field: as it was given if it was not changed, since the field knows no seconds.
function chosenSince(given) {
  const [hours, minutes] = $("chooser-since").value.split(":").map(Number);
  const was = new Date(given * 1000);
  if (Number.isNaN(minutes) || (hours === was.getHours() && minutes === was.getMinutes())) return given;
  const said = midnight(new Date(view.state.now * 1000));
  said.setHours(hours, minutes);
  return Math.min(said / 1000, view.state.now);
}

export function review(one) {
  pick(`What was ${time(one.start)} to ${time(one.end)}?`, `So far: ${about(one)}.`,
    (which) => say("correct", { ...which, since: one.start, until: one.end }),
    { ranked: one.ranked, forget: () => confirm(`Forget everything recorded from ${time(one.start)} to ${time(one.end)}?`) &&
      say("forget", { start: one.start, end: one.end }) });
}

export function reviewNext() {
  const one = view.state?.stretches.find((one) => one.unsure);
  if (one) review(one);
}

export function moveResource(one) {
  pick("Which activity does it belong to?", one.title || one.resource,
    (which) => say("associate", { ...which, resource: one.resource }),
    { without: [current()], forget: () => confirm(`Forget ${one.title || one.resource} everywhere?`) &&
      say("forget", { resource: one.resource }) });
}

export function openAll() {
  if (view.state && current() !== null && !$("open-all").hidden) say("open-all", { activity: current() });
}

export function turn(days) {
  const from = view.day ?? midnight(new Date(view.state.now * 1000));
  const next = new Date(from);
  next.setDate(next.getDate() + days);
  const today = midnight(new Date(view.state.now * 1000));
  if (next > today) return;
  view.day = next.getTime() === today.getTime() ? null : next;
  refresh();
}

export function edit() {
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
$("editor-archive").addEventListener("click", () => { say("archive", { activity: current() }); view.chosen = null; $("editor").close(); });
$("editor-merge").addEventListener("click", () => {
  const id = current();
  $("editor").close();
  pick(`Merge ${nameOf(id)} into which activity?`, "Everything in it moves to the other activity.",
    (which) => { view.chosen = null; say("merge", { activity: id, into: which.activity }); },
    { without: [id], creates: false });
});
$("editor-cancel").addEventListener("click", () => $("editor").close());
