// Talking to the server: each request is answered in time, or there is a sentence about it.
import { $ } from "./elements.js";
import { greet } from "./keys.js";

const GREETING = 5; // seconds: a server that is not stopped answers at once
const ANSWER = 30; // seconds: it may have a long log to learn anew
const QUIET = 40; // seconds: it gives a sign of life every 15

// The server cannot be reached: nothing that the person said is wrong.
class Trouble extends Error {}

async function get(path, how, seconds, late) {
  try {
    const answer = await fetch(path, { ...how, redirect: "error", signal: AbortSignal.timeout(1000 * seconds) });
    return [answer, await answer.json()];
  } catch (error) {
    if (["TimeoutError", "AbortError"].includes(error.name)) throw new Trouble(`No answer from Yarrow within ${seconds} s: ${late}`);
    if (error instanceof SyntaxError) return [null, null]; // no JSON: it is somebody else
    throw new Trouble("Yarrow does not answer. Is 'yarrow activity run' running? Retrying …");
  }
}

async function greeted() {
  try {
    return await greet(async (path) => (await get(path, {}, GREETING,
      "it has stopped or is very busy. Nothing was sent; try again when this message is gone."))[1]);
  } catch (error) {
    throw new Trouble(error.message);
  }
}

async function request(server, path, body) {
  const method = body === undefined ? "GET" : "POST";
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = { Authorization: await server.sign(method, path, text), "Content-Type": "application/json" };
  const [answer, told] = await get(path, { method, headers, body: text || undefined }, ANSWER,
    "it has stopped or is very busy. Your change may or may not be saved: check before you repeat it.");
  if (!answer?.ok) throw new Error(told?.error ?? "The program that answered is not Yarrow.");
  return told;
}

export async function ask(path, body) {
  const server = await greeted();
  if (server.isNew) {
    await server.keep(await request(server, "/api/keys"));
    return request(await greeted(), path, body);
  }
  return request(server, path, body);
}

export async function say(what, body) {
  try {
    await ask(`/api/${what}`, body);
    tell("");
    return true;
  } catch (error) {
    tell(error.message, error instanceof Trouble);
    return false;
  }
}

export function tell(sentence, isTrouble = false) {
  $("message").textContent = sentence;
  $("message").hidden = !sentence;
  $("message").classList.toggle("trouble", isTrouble);
}

// Listens until the server ends or falls silent; `heard` is called at each sign that it gives.
export async function listen(heard) {
  const silence = new AbortController();
  let timer = 0;
  const wait = () => { clearTimeout(timer); timer = setTimeout(() => silence.abort(), 1000 * QUIET); };
  const server = await greeted();
  const headers = { Authorization: await server.sign("GET", "/api/live", "") };
  wait();
  try {
    const answer = await fetch("/api/live", { headers, redirect: "error", signal: silence.signal });
    if (!answer.ok) return;
    const reader = answer.body.getReader();
    while (!(await reader.read()).done) {
      wait();
      heard();
    }
  } finally {
    clearTimeout(timer);
  }
}
