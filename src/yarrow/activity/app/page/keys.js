// Making sure of the server before anything is said to it; no key is ever sent. How, and why there
// are two keys, is told in keys.py.

// The key of this run comes in the address, behind "#", where it is not sent; the browser keeps it.
function take() {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!given) return;
  localStorage.setItem("key", given);
  lasting = null; // the person has opened this page anew
  history.replaceState(null, "", location.pathname);
}
let lasting = null; // the key that outlives a run: in memory alone, and not even this page can read it
let run = ""; // the server's name for the run whose keys are known
localStorage.removeItem("token"); // what older versions kept
take();
addEventListener("hashchange", take);

const encoder = new TextEncoder();
const hex = (bytes) => [...new Uint8Array(bytes)].map((one) => one.toString(16).padStart(2, "0")).join("");
const made = (key) => crypto.subtle.importKey("raw", encoder.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
const proof = async (key, ...parts) => hex(await crypto.subtle.sign("HMAC", key, encoder.encode(parts.join("\n"))));

// Greets by `get`, and returns what signs one request; an error if a stranger answers.
export async function greet(get) {
  const kept = localStorage.getItem("key");
  if (!lasting && !kept) throw new Error("This page has no key. Run 'yarrow activity open', which opens it with one.");
  const key = lasting ?? await made(kept);
  const number = hex(crypto.getRandomValues(new Uint8Array(16)));
  const told = await get(`/hello?number=${number}`);
  const expected = await proof(key, "server", location.origin, number, String(told?.moment));
  if (!told?.proofs?.includes?.(expected)) {
    throw new Error("The program at this address does not know this page's key: the key is old, or another program " +
      "is listening here. Nothing was sent to it. Run 'yarrow activity open' to open the page again.");
  }
  return {
    isNew: told.moment.split(".")[0] !== run,
    sign: async (method, path, body) =>
      `Yarrow ${number} ${told.moment} ${await proof(key, "page", location.origin, number, told.moment, method, path, body)}`,
    keep: async (keys) => {
      lasting = await made(keys.lasting);
      localStorage.setItem("key", keys.run); // for new tabs and for this one when it is loaded again
      run = told.moment.split(".")[0];
    },
  };
}
