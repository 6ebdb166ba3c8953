// What is typed and not sent is kept: at once in this browser, every two seconds on the server, for
// the same person's other devices. The newer one counts, by the server's clock.
import { headers } from "./taste.js";

const SAVE_MS = 2000;
// Browsers refuse more than 64 kB from a page that is left; a character may take nine bytes.
const KEEPALIVE_CHARS = 7000;
const form = () => document.querySelector("[data-composer]");
const prompt = () => document.querySelector("[data-prompt]");
const key = () => `draft:${form().dataset.draft}`;
const ahead = Number(form().dataset.now) - performance.timeOrigin;
let timer = null;
let unsaved = false;
let saving = null;

function kept() {
  const raw = localStorage.getItem(key());
  try {
    const { text, at, caret } = JSON.parse(raw);
    return { text: String(text), at: Number(at), caret };
  } catch {
    // As an older version of this page kept it.
    return { text: raw, at: 1 };
  }
}

function post(text, keepalive = false) {
  unsaved = false;
  const { session = "" } = document.querySelector("main").dataset;
  const project = form().elements.namedItem("project")?.value ?? "";
  const body = new URLSearchParams({ session, project, text, at: Math.round(Date.now() + ahead) });
  // When it fails, this browser has it all the same, and the next key tries again.
  const request = fetch(form().dataset.save, { method: "POST", headers: headers(), body, keepalive }).catch(() => {});
  saving = request;
  request.then(() => saving === request && (saving = null));
}

function keepCaret() {
  const { value, selectionStart, selectionEnd } = prompt() ?? {};
  const { text, at } = kept();
  if (value && value === text) localStorage.setItem(key(), JSON.stringify({ text, at, caret: [selectionStart, selectionEnd] }));
}

function flush(leaving = false) {
  if (leaving) keepCaret();
  clearTimeout(timer);
  timer = null;
  // A request that is under way ends with its page, unless it was made for that.
  if ((unsaved || (leaving && saving)) && prompt()) post(prompt().value, leaving && prompt().value.length < KEEPALIVE_CHARS);
}

/** Keep what is in the field. */
export function keep() {
  const { value } = prompt();
  if (value) localStorage.setItem(key(), JSON.stringify({ text: value, at: Date.now() + ahead }));
  else localStorage.removeItem(key());
  unsaved = true;
  timer ??= setTimeout(flush, SAVE_MS);
}

/** It is on its way: nothing more of it is kept, unless it comes back. */
export function pause() {
  clearTimeout(timer);
  timer = null;
  unsaved = false;
}

/** It is sent: the server knows, but something older may be on its way to it. */
export function forget() {
  pause();
  localStorage.removeItem(key());
  saving?.then(() => post(""));
}

/**
 * Have this browser's draft in the field when it is newer. What was typed meanwhile comes after it.
 * Returns: whether the caret is where it was.
 */
export function restore() {
  const field = prompt();
  const { text, at, caret } = kept();
  if (!text) return;
  if (at < Number(form().dataset.typed)) return void localStorage.removeItem(key());
  const early = field.value === text ? "" : field.value.replace(field.defaultValue, "");
  if (field.value !== text) field.value = text + early;
  if (early) keep();
  if (early || !caret) return;
  field.setSelectionRange(...caret);
  return true;
}

addEventListener("pagehide", () => flush(true));
document.addEventListener("visibilitychange", () => document.hidden && flush(true));
