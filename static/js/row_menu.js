// The menu of a session in a list, or of a turn: beside its row, on a phone from below.
import { fetchFragment } from "./fragment.js";
import { refreshNow } from "./lists.js";

const dialog = document.createElement("dialog");
dialog.className = "row-menu-dialog dialog";
dialog.setAttribute("aria-labelledby", "row-menu-title");
document.body.append(dialog);
const isWide = matchMedia("(min-width: 760px)");
const GAP = 8;
let opener = null;
// What has the focus when the menu has closed, where that is not its opener.
let next = null;
// The message of a turn that is being rolled back.
let said = "";

function place(link) {
  dialog.removeAttribute("style");
  if (!isWide.matches) return;
  const row = (link.closest("[data-row]") ?? link).getBoundingClientRect();
  const { width, height } = dialog.getBoundingClientRect();
  const isMirrored = getComputedStyle(document.body).direction === "rtl";
  const left = isMirrored ? row.left : row.right - width;
  const below = row.bottom + height + GAP <= innerHeight;
  dialog.style.left = `${Math.min(Math.max(GAP, left), innerWidth - width - GAP)}px`;
  dialog.style.top = `${below ? row.bottom : row.top - height}px`;
  fit();
}

function fit() {
  const { top, bottom } = dialog.getBoundingClientRect();
  if (isWide.matches) dialog.style.top = `${Math.max(GAP, top - Math.max(0, bottom + GAP - innerHeight))}px`;
}

/** Show what the address of the link lists. Without an answer the link is followed. */
export async function open(link, act = "") {
  if (dialog.open) dialog.close();
  const page = await fetchFragment(link.href);
  if (!page?.ok) return location.assign(link.href);
  opener = link;
  await htmx.swap({ target: dialog, text: page.text, swap: "innerHTML", sourceElement: dialog });
  dialog.showModal();
  place(link);
  dialog.querySelector(`[data-command="${act}"]`)?.click();
}

dialog.addEventListener("toggle", ({ target }) => {
  if (target === dialog || !target.open) return;
  fit();
  // Another Enter folds it again.
  (target.querySelector("input:not([type=hidden])") ?? target.firstElementChild).focus();
}, true);
dialog.addEventListener("click", (event) => (event.target === dialog || event.target.closest("a")) && dialog.close());
// Before the frames come that take it from the page.
dialog.addEventListener("submit", ({ target }) => {
  said = target.matches("[data-roll-back]") ? document.getElementById(target.dataset.rollBack)?.textContent.trim() : "";
}, true);

function giveBack(text) {
  const field = document.querySelector("[data-prompt]");
  if (!text || !field || field.value || field.disabled) return null;
  field.value = sessionStorage.given = text;
  htmx.trigger(field, "input");
  return field;
}
dialog.addEventListener("close", () => {
  dialog.replaceChildren();
  // The row may have been drawn again since.
  const again = document.querySelector(`[data-row-menu][href="${CSS.escape(opener.getAttribute("href"))}"]`);
  (next ?? (opener.isConnected ? opener : again))?.focus();
  next = null;
});
dialog.addEventListener("htmx:after:request", ({ detail }) => {
  if (!detail.ctx.response || detail.ctx.response.status >= 400) return;
  next = giveBack(said);
  dialog.close();
  refreshNow();
});
