// Toasts, announcements, the count in the title, and failed requests.
import { eachPage } from "./page.js";

const QUIET_MS = 3000; // At most one announcement in this time, or speech never ends.
const TOAST_MS = 8000;
let lastSpoken = 0;
let waiting = null;

/** Say a sentence politely; of several within three seconds only the last. */
export function announce(text) {
  const region = document.querySelector("[data-announce]");
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    lastSpoken = Date.now();
    region.textContent = text;
  }, Math.max(0, lastSpoken + QUIET_MS - Date.now()));
}

let rail;
let mark = "";
const icon = document.querySelector("link[data-asks]");
const plainIcon = icon?.getAttribute("href");

/** Put the number of sessions to answer before the page's title, and a dot on its icon. */
export function refreshBadge() {
  const { role, user, asks = "{}" } = document.body.dataset;
  const asked = JSON.parse(asks); // Where there is no list, the server has counted.
  const count = rail ? rail.querySelectorAll(`[data-answerers~="${role}"], [data-answerers~="${user}"]`).length : (asked[role] ?? 0) + (asked[user] ?? 0);
  const plain = document.querySelector("[data-title]")?.textContent ?? "";
  const title = document.title.replace(mark, "");
  document.querySelectorAll("[data-inbox]").forEach((badge) => ([badge.hidden, badge.textContent] = [!count, count]));
  mark = count ? `(${count}) ` : "";
  document.title = mark + (plain ? `${plain} · ${title.split(" · ").pop()}` : title);
  // Browsers fetch it anew with every change.
  const wanted = count ? icon?.dataset.asks : plainIcon;
  if (icon?.getAttribute("href") !== wanted) icon.href = wanted;
}

eachPage(() => {
  rail = document.querySelector("[data-rail]");
  if (!rail) return;
  new MutationObserver(refreshBadge).observe(rail, { childList: true, subtree: true });
  refreshBadge();
});

// Errors stay until dismissed or resolved; the rest leaves on its own.
const toasts = document.getElementById("toasts");
const expire = (node) => node.dataset?.kind !== "bad" && setTimeout(() => (node.matches?.(":focus-within") ? expire(node) : node.remove()), TOAST_MS);
[...toasts.children].forEach(expire);
new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach(expire))).observe(toasts, { childList: true });
addEventListener("click", (event) => event.target.closest("[data-dismiss]")?.closest("[data-toast]").remove());
// On a phone they cover the page: the next tap removes them.
addEventListener("pointerdown", ({ pointerType, target }) => pointerType === "touch" && !target.closest("[data-toast]") && [...toasts.children].forEach((one) => one.dataset.kind === "bad" || one.remove()));

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => (ctx.main = document.querySelector("main")));

// An error page is no fragment. A form with errors (422) and a retargeted toast are;
// of another page's, only the toast.
document.addEventListener("htmx:before:response", (event) => {
  const { main, response: { status, headers } } = event.detail.ctx;
  const target = headers.get("HX-Retarget");
  const isLate = main?.isConnected === false && target !== "#toasts";
  if (!isLate && (status < 400 || status === 422 || target)) return;
  event.preventDefault();
  if (status >= 400) import("./refused.js").then(({ refuse }) => (refuse(status).dataset.about = aboutOf(event.detail.ctx)));
});

const aboutOf = ({ request: { method, action } }) => `${method} ${action.split("?")[0]}`;
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  for (const error of toasts.querySelectorAll('[data-kind="bad"]')) {
    if (ctx.response?.status >= 400) error.dataset.about ??= aboutOf(ctx);
    else if (ctx.response && error.dataset.about === aboutOf(ctx)) error.remove();
  }
});

document.addEventListener("htmx:error", (event) => {
  // A message waits by itself.
  if (event.detail.error instanceof TypeError && !event.detail.ctx?.sourceElement.matches("[data-composer]")) import("./refused.js").then(({ lose }) => lose());
});
