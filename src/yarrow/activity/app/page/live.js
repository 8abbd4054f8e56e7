// Being told of what is new. A browser has six connections to a server, for all tabs together: so one
// tab, which holds the lock, listens for all of them, and tells the others.
import { $ } from "./elements.js";
import { ask, listen, tell } from "./server.js";
import { span, view } from "./view.js";

const news = new BroadcastChannel("news");
let draw = () => {};
let isAsking = false, isDue = false, retry = 0, wait = 500;

// Asks for the state and draws it; asked while it is under way, it asks once more.
export async function refresh() {
  isDue = true;
  if (isAsking) return;
  isAsking = true;
  clearTimeout(retry);
  try {
    while (isDue) {
      isDue = false;
      const asked = span();
      const next = await ask(`/api/state?${asked}`);
      if (view.state === null || asked === span()) draw(next);
      isDue ||= asked !== span(); // another day was chosen or has begun, or a demo's clock is not ours
    }
    wait = 500;
    if ($("message").classList.contains("trouble")) tell("");
  } catch (error) {
    tell(error.message, true);
    retry = setTimeout(refresh, wait);
    wait = Math.min(2 * wait, 10000);
  }
  isAsking = false;
}

// Whoever cannot listen lets another tab try, which may have another key.
async function lead() {
  for (let pause = 500; ; pause = Math.min(2 * pause, 10000)) {
    await navigator.locks.request("live", async () => {
      try {
        await listen(() => { pause = 500; news.postMessage(""); refresh(); });
      } catch { /* the next state that is asked for tells what is wrong */ }
    });
    refresh();
    await new Promise((done) => setTimeout(done, pause));
  }
}

export function start(drawing) {
  draw = drawing;
  news.addEventListener("message", refresh);
  for (const name of ["storage", "hashchange"]) addEventListener(name, refresh); // there may be a new key
  refresh();
  lead();
}
