// What is shown: the state that the server sent last, and which part of it the person looks at.
import { midnight } from "./elements.js";

export const view = {
  state: null,
  day: null, // midnight of the day shown; null: today
  chosen: null, // the activity whose resources are shown; null: the current one
};

export const nameOf = (id) => view.state.activities.find((one) => one.id === id)?.name ?? "Nothing declared";
export const current = () => view.chosen ?? view.state.declared.activity;

export function span() {
  const start = view.day ?? midnight(view.state ? new Date(view.state.now * 1000) : new Date());
  const end = new Date(start);
  end.setDate(end.getDate() + 1); // not 24 hours where clocks change
  return `start=${start / 1000}&end=${end / 1000}`;
}
