// Small helpers: elements of the page, and numbers as a person reads them.

export const $ = (id) => document.getElementById(id);

export function element(tag, settings = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (name in made) made[name] = value;
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Redraws only what differs: a list that is the same keeps its focus and its scroll position.
export function fill(list, items, key, make) {
  const keys = JSON.stringify(items.map(key));
  if (list.dataset.keys === keys) return;
  list.dataset.keys = keys;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  list.replaceChildren(...items.map(make));
  if (focused) [...list.querySelectorAll("[data-id]")].find((one) => one.dataset.id === focused)?.focus();
}

export function paint(made, id) {
  made.classList.add(id === null || id === undefined ? "of-none" : "of");
  // The golden angle: neighbours in number are far apart in colour.
  if (id !== null && id !== undefined) made.style.setProperty("--hue", (150 + id * 137.508) % 360);
  return made;
}

export const time = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
export const percent = (share) => `${Math.round(100 * share)} %`;

export function midnight(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

export function lasted(seconds) {
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
}

export function bar(share, id) {
  const inner = element("i");
  inner.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  return paint(element("div", { className: "bar" }, inner), id);
}

// A path or an address by its end, which is what differs.
export function short(name) {
  if (/^https?:/.test(name)) return name.replace(/^https?:\/\/(www\.)?/, "");
  if (name.startsWith("window:")) return name.slice(name.indexOf("/") + 1);
  const parts = name.split("/");
  return parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : name;
}
