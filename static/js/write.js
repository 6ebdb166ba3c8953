// Writing a message: the field grows, keeps drafts, sends on Enter.
import { forget, keep, pause, restore } from "./draft.js";
import { form, place, prompt } from "./idle.js";
import { keymap } from "./keys.js";
import { announce } from "./notify.js";
import { eachPage } from "./page.js";
import { ulid } from "./ulid.js";
import { hold, release, takeUp } from "./unsent.js";
import { _ } from "./words.js";

function grow(field) {
  if (CSS.supports("field-sizing", "content")) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

function typed(field) {
  grow(field);
  keep();
  if (/(^|\s)[@\/]\S*$/.test(field.value.slice(0, field.selectionStart))) import("./mention.js");
}

addEventListener("input", ({ target }) => {
  if (!target.matches("[data-prompt]")) return;
  release();
  typed(target);
});

/** Enter was pressed in the field. */
export async function enter({ target, ctrlKey, metaKey }) {
  const text = target.value.trim();
  if (!text) return;
  // A command of the page is done, and not sent.
  if (/^\/[^\s/]+$/.test(text) && (await (await import("./mention.js")).takeTyped(target, text))) return;
  // While a turn runs, Mod+Enter sends the way that Enter does not.
  const waits = (document.body.dataset.enter === "queue") !== (ctrlKey || metaKey);
  const queue = waits && form().querySelector("[data-queue]");
  form().requestSubmit(queue || form().querySelector('[name="delivery"][value="steer"]'));
}

// The list of commands, without a key for it.
addEventListener("click", (event) => {
  if (!event.target.closest("[data-slash]")) return;
  event.preventDefault();
  const field = prompt();
  field.value = field.value.replace(/^\/?/, "/");
  field.focus();
  field.setSelectionRange(1, 1);
  htmx.trigger(field, "input");
});

let delivery = "";
let sent = prompt()?.value ?? "";
addEventListener("submit", ({ target, submitter }) => {
  if (!target.matches("[data-composer]")) return;
  delivery = submitter?.value ?? "";
  sent = prompt().value;
  pause();
  // What is typed from now on is for its page.
  if (!target.closest("[data-session]")) place();
});

document.addEventListener("htmx:error", ({ detail: { ctx, error } }) => {
  if (!ctx?.sourceElement.matches("[data-composer]") || !ctx.sourceElement.isConnected || !(error instanceof TypeError)) return;
  keep();
  hold(delivery);
});

document.addEventListener("htmx:after:request", (event) => {
  const { sourceElement, response } = event.detail.ctx;
  // What a rollback gave back goes with it, unless changed.
  if (sourceElement.matches("[data-restore]") && prompt().value === sessionStorage.given) {
    prompt().value = "";
    htmx.trigger(prompt(), "input");
  }
  if (!sourceElement.matches("[data-composer]") || !sourceElement.isConnected) return;
  if (response.status >= 300) {
    release();
    return keep();
  }
  const field = prompt();
  release();
  // What was typed since is the next one.
  if (field.value.startsWith(sent)) field.value = field.value.slice(sent.length);
  forget();
  if (!sourceElement.closest("[data-session]")) {
    sessionStorage.early = field.value;
    field.value = "";
    hear();
  } else if (field.value) keep();
  else if (sourceElement.contains(document.activeElement) || document.activeElement === document.body) place();
  sourceElement.querySelectorAll("[data-refused]").forEach((one) => one.remove());
  grow(field);
  document.querySelector("[data-jump]:not([hidden])")?.click();
  sourceElement.querySelector("[data-ulid]").value = ulid();
  announce(_("Message sent."));
});

/** The first of the two keys that stop was pressed, or too long ago. */
export function arm(isArmed) {
  const [first, second] = keymap.stop.replaceAll("Escape", "Esc").split(" ");
  const text = (first === second ? _("Press {key} again to stop", { key: second }) : _("Press {key} to stop", { key: second }));
  const hint = document.querySelector("[data-composer-hint]");
  if (hint) hint.textContent = isArmed ? text : "";
  if (isArmed) announce(text);
}

// What was typed while this came stands behind the draft.
eachPage(() => {
  const field = prompt();
  if (!field) return;
  const early = field.value !== field.defaultValue;
  const hasCaret = restore();
  if (early) typed(field);
  // Who goes on with a draft writes behind it.
  if (!hasCaret && !field.selectionEnd) field.selectionStart = field.value.length;
  grow(field);
  takeUp();
});
