// Messages in the corner; notify.js takes them away again.
import { _ } from "./words.js";

const toasts = document.getElementById("toasts");

/** Show a message in the corner. kind: "bad", "ok" or "". Returns: its element. */
export function toast(text, kind = "") {
  [...toasts.children].find((old) => old.textContent.includes(text))?.remove();
  const box = document.createElement("div");
  box.className = "toast";
  box.dataset.toast = "";
  box.dataset.kind = kind;
  const words = document.createElement("p");
  words.className = "toast-text";
  words.textContent = text;
  const close = document.createElement("button");
  close.className = "button button-quiet";
  close.type = "button";
  close.dataset.dismiss = "";
  close.textContent = _("Dismiss");
  box.append(words, close);
  toasts.append(box);
  return box;
}

/** Say a sentence at once. For what waits for the person. */
export function alertUser(text) {
  document.querySelector("[data-alert]").textContent = text;
}
