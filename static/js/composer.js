// The message field: grows, sends on Enter, keeps drafts, stops a turn on Esc Esc.
import { bind, isTyping } from "./keys.js";
import { announce } from "./notify.js";

const ARMED_MS = 2000;
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const form = () => document.querySelector("[data-composer]");
const prompt = () => document.querySelector("[data-prompt]");
const draftKey = () => `draft:${form().dataset.draft}`;

/** A ULID: 48 bits of time, 80 random bits. The server takes the same one only once. */
export function ulid() {
  let time = Date.now();
  let head = "";
  for (let i = 0; i < 10; i++, time = Math.floor(time / 32)) head = ALPHABET[time % 32] + head;
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return head + [...bytes].map((byte) => ALPHABET[byte % 32]).join("");
}

function grow(field) {
  if (CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

function saveDraft() {
  if (!prompt()) return;
  if (prompt().value) localStorage.setItem(draftKey(), prompt().value);
  else localStorage.removeItem(draftKey());
}

function restoreDraft() {
  const field = prompt();
  if (!field) return;
  if (!field.value) field.value = localStorage.getItem(draftKey()) ?? "";
  grow(field);
}

document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-prompt]")) return;
  grow(event.target);
  saveDraft();
  if (/(^|\s)[@/]\S*$/.test(event.target.value)) import("./mention.js");
});

// Files come by a button, the clipboard or the pointer; most messages have none.
document.addEventListener("change", (event) => event.target.matches("[data-files]") && import("./attach.js").then(({ show }) => show()));
document.addEventListener("dragover", () => form() && import("./attach.js"));
document.addEventListener("paste", ({ target, clipboardData }) => {
  const files = [...clipboardData.files];
  if (files.length && target.matches("[data-prompt]")) import("./attach.js").then(({ attach }) => attach(files));
});

document.addEventListener("keydown", (event) => {
  if (!event.target.matches("[data-prompt]")) return;
  if (event.key === "ArrowUp" && !event.target.value) import("./recall.js").then(({ recall }) => recall(event.target, 1));
  if (event.key !== "Enter") return;
  if (event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!event.target.value.trim()) return;
  // While a turn runs there are two ways to send; Mod+Enter takes the one that waits.
  const queue = (event.ctrlKey || event.metaKey) && form().querySelector("[data-queue]");
  form().requestSubmit(queue || form().querySelector('[name="delivery"][value="steer"]'));
});

// Fragments are rendered once for all viewers, so the number that makes a submission single is
// made here, and stays the same when a lost request is sent again.
document.addEventListener(
  "submit",
  (event) => event.target.querySelectorAll("[data-ulid]").forEach((field) => (field.value ||= ulid())),
  true,
);

document.addEventListener("htmx:after:request", (event) => {
  const { sourceElement, response } = event.detail.ctx;
  if (!sourceElement.matches("[data-composer]") || response.status >= 300) return;
  const field = prompt();
  field.value = "";
  saveDraft();
  grow(field);
  sourceElement.querySelector("[data-ulid]").value = ulid();
  announce("Message sent.");
});
document.addEventListener("htmx:after:swap", restoreDraft);
restoreDraft();

// Esc Esc stops. An open menu or dialog takes the key first.
let armed = null;
function disarm() {
  clearTimeout(armed);
  armed = null;
  const hint = document.querySelector("[data-composer-hint]");
  if (hint) hint.textContent = "";
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  const button = document.querySelector("[data-stop]");
  const elsewhere = isTyping(event.target) && !event.target.matches("[data-prompt]");
  if (!button || elsewhere || document.querySelector("dialog[open]")) return;
  if (armed) {
    disarm();
    button.click();
    return;
  }
  document.querySelector("[data-composer-hint]").textContent = "Press Esc again to stop";
  announce("Press Escape again to stop the turn.");
  armed = setTimeout(disarm, ARMED_MS);
});

bind({ key: "Ctrl Enter", label: "Send when this turn is over", when: () => Boolean(document.querySelector("[data-queue]")), run: null });
bind({ key: "/", label: "Write a message", when: () => Boolean(prompt()), run: () => prompt().focus() });
bind({ key: "Escape", label: "Stop the turn", when: () => Boolean(document.querySelector("[data-stop]")), run: null });
