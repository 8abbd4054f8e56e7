// Talking to the server.
import { $ } from "./elements.js";
import { span, view } from "./view.js";

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

export async function ask(path, body) {
  const how = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(path, how);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

export async function say(what, body) {
  try {
    await ask(`/api/${what}`, body);
    tell("");
    return true;
  } catch (error) {
    tell(error.message);
    return false;
  }
}

export function tell(sentence) {
  $("message").textContent = sentence;
  $("message").hidden = !sentence;
}

// Server-sent events, read by fetch: EventSource cannot send the token in a header.
export async function listen(draw) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 10000)) {
    view.listened = new AbortController();
    try {
      const answer = await fetch(`/api/live?${span()}`, { headers, signal: view.listened.signal });
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
