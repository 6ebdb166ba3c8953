// Drafts are kept: at once in this browser, every two seconds on the server, for the person's other
// devices. The newer one counts, by the server's clock.
import { form, prompt } from "./idle.js";
import { askedAt, eachPage, onLeave } from "./page.js";
import { headers } from "./taste.js";

const SAVE_MS = 2000;
// Browsers send at most 64 kB from a page that is left; a character may take nine bytes.
const KEEPALIVE_CHARS = 7000;
const key = () => `draft:${form().dataset.draft}`;
let ahead = 0;
let timer = null;
let unsaved = false;
let saving = null;

const kept = () => JSON.parse(localStorage.getItem(key())) ?? {};

function post(text, keepalive = false) {
  unsaved = false;
  const { session = "" } = document.querySelector("main").dataset;
  const project = form().elements.namedItem("project")?.value ?? "";
  const body = new URLSearchParams({ session, project, text, at: Math.round(Date.now() + ahead) });
  // When it fails, this browser has it, and the next key tries again.
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
  if (!form()) return;
  if (leaving) keepCaret();
  clearTimeout(timer);
  timer = null;
  // A pending request ends with its page, unless it was made for that.
  if ((unsaved || (leaving && saving)) && prompt()) post(prompt().value, leaving && prompt().value.length < KEEPALIVE_CHARS);
}

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

/** It is sent; something older may be on its way to the server. */
export function forget() {
  pause();
  localStorage.removeItem(key());
  saving?.then(() => post(""));
}

/**
 * Show this browser's draft when it is newer. What was typed since comes after it.
 * Returns: whether the caret is where it was.
 */
export function restore() {
  const field = prompt();
  const { text, at, caret } = kept();
  if (!text || text === "/") return;
  if (at < Number(form().dataset.typed)) return void localStorage.removeItem(key());
  const early = field.value === text ? "" : field.value.replace(field.defaultValue, "");
  // What a link has filled in comes after what was left here.
  const linked = form().dataset.typed === "0" && !text.includes(field.defaultValue) ? `\n\n${field.defaultValue}` : "";
  if (field.value !== text) field.value = text + linked + early;
  if (linked || early) keep();
  if (linked || early || !caret) return;
  field.setSelectionRange(...caret);
  return true;
}

eachPage(() => form() && (ahead = Number(form().dataset.now) - askedAt));
addEventListener("pagehide", () => flush(true));
onLeave(() => flush(true));
document.addEventListener("visibilitychange", () => document.hidden && flush(true));
