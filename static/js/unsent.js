// A message that did not reach the server waits in its field until the server is back. Its number stays,
// also after a reload, so the server takes it only once.
import { form, prompt } from "./idle.js";
import { announce } from "./notify.js";
import { onLeave } from "./page.js";

const AGAIN_MS = 5000;
const number = () => form().querySelector("[data-ulid]");
const key = () => `unsent:${form().dataset.draft}`;
let timer = null;

const note = () => form().querySelector("[data-unsent-note]");

function mark(on) {
  form().toggleAttribute("data-unsent", on);
  note().hidden = !on;
}

function again() {
  clearTimeout(timer);
  if (!form()?.hasAttribute("data-unsent")) return;
  const { delivery } = JSON.parse(localStorage.getItem(key())) ?? {};
  form().requestSubmit((delivery === "queue" && form().querySelector("[data-queue]")) || form().querySelector(".button-main"));
}

/** The server was not reached: keep the message and its number, and try again. */
export function hold(delivery) {
  const isNew = !form().hasAttribute("data-unsent");
  localStorage.setItem(key(), JSON.stringify({ number: number().value, delivery }));
  mark(true);
  if (isNew) announce(note().textContent.trim());
  clearTimeout(timer);
  timer = setTimeout(again, AGAIN_MS);
}

/** It is sent, or somebody goes on writing: then it goes when they say so. */
export function release() {
  clearTimeout(timer);
  if (!form().hasAttribute("data-unsent")) return;
  localStorage.removeItem(key());
  mark(false);
}

/** After a reload: send what waited, with its number. */
export function takeUp() {
  const held = JSON.parse(localStorage.getItem(key()));
  if (!held) return;
  if (!prompt().value) return localStorage.removeItem(key());
  number().value = held.number;
  mark(true);
  again();
}

addEventListener("online", again);
onLeave(() => clearTimeout(timer));
