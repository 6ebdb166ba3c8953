// Entry of every page. Modules hear the document: they serve what is swapped in, too.
import "./cards.js";
import "./clock.js";
import "./composer.js";
import "./menus.js";
import "./notify.js";
import "./panes.js";
import { MAC, bind } from "./keys.js";
import { eachPage } from "./page.js";

let offer;
addEventListener("beforeinstallprompt", (event) => (offer = event).preventDefault());

document.addEventListener("click", (event) => {
  const [copied, permitted, dictates, finds, shown, installs] = ["copy-from", "permit", "dictate", "palette-open", "reveal", "install"].map((kind) => event.target.closest(`[data-${kind}]`));
  if (copied || finds) event.preventDefault();
  if (copied) import("./copy.js").then(({ copy }) => copy(copied));
  if (dictates) import("./dictate.js").then(({ toggle }) => toggle());
  if (finds) openPalette();
  if (shown) shown.previousElementSibling.type = (shown.ariaPressed = shown.ariaPressed === "false") ? "text" : "password";
  // Without an offer the link leads to how it is done.
  if (installs && offer) offer.prompt(event.preventDefault());
  if (permitted) import("./notifications.js").then(({ permit }) => permit(permitted));
});
const { permission } = window.Notification ?? {};
const sounds = document.body.dataset.notify.includes("sound-");
if ((permission === "granted" && navigator.serviceWorker) || sounds) import("./notifications.js");

// Fragments name the keys of most people, and only one page takes keys as they are pressed.
const has = (css) => document.querySelector(css);
// Before somebody goes elsewhere, a pointer or a key is there.
if (has("[data-app]")) for (const type of ["pointermove", "pointerdown", "keydown", "popstate"]) addEventListener(type, () => import("./navigate.js"), { once: true });
if (MAC || "rebound" in document.body.dataset) import("./labels.js");

// Style sheets show the controls that need JavaScript only from now on.
document.documentElement.dataset.js = "on";

const hasRows = () => has("[data-session-row]");
const go = async (step) => (await import("./rail.js")).openNeighbour(step);

eachPage(() => {
  if (has("[data-record]")) import("./record.js");
  if (has("[data-push]")) import("./push.js").then(({ offer }) => offer());
  if (has("[data-own-zone]")) import("./own_zone.js").then(({ choose }) => choose());
  if (has("[hx-trigger^=every]")) import("./polls.js");
  if (has("[data-log]")) import("./reading.js");
  if (sessionStorage.step && has("[data-app]")) import("./rail.js").then(({ lookAhead }) => lookAhead());
});

bind({ id: "next-session", when: hasRows, run: () => go(1) });
bind({ id: "previous-session", when: hasRows, run: () => go(-1) });

// Loaded when it is used; without scripts its link opens the search page.
const find = () => has("[data-palette-open]");
function openPalette(typed) {
  const dialog = has("[data-palette]");
  if (dialog.open) return;
  const field = dialog.querySelector("input");
  if (typed) field.value = typed;
  // Its field takes keys, and Enter, while the rest loads.
  let isSent = false;
  dialog.onsubmit = (early) => {
    early.preventDefault();
    isSent = true;
  };
  document.activeElement.closest("[data-menu]")?.firstElementChild.focus();
  dialog.showModal();
  field.select();
  if (typed) field.selectionStart = field.selectionEnd;
  import("./palette.js").then(({ start }) => {
    dialog.onsubmit = null;
    start(isSent);
  }, (error) => {
    dialog.close();
    throw error;
  });
}
bind({ id: "palette", when: find, run: () => openPalette() });
bind({ id: "sessions", when: () => find() && document.body.dataset.role !== "billing", run: () => openPalette("#") });
