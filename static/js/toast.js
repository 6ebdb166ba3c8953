// Messages in the corner; notify.js takes them away again.
import { make } from "./make.js";
import { _ } from "./words.js";

const toasts = document.getElementById("toasts");

/** Show a message in the corner. kind: "bad", "ok" or "". Returns: its element. */
export function toast(text, kind = "") {
  [...toasts.children].find((old) => old.textContent.includes(text))?.remove();
  const close = make("button", { className: "button button-quiet", type: "button" }, _("Dismiss"));
  close.dataset.dismiss = "";
  const box = make("div", { className: "toast" }, make("p", { className: "toast-text" }, text), close);
  Object.assign(box.dataset, { toast: "", kind });
  toasts.append(box);
  return box;
}

/** Say a sentence at once. For what waits for the person. */
export function alertUser(text) {
  document.querySelector("[data-alert]").textContent = text;
}
