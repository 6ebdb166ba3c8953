// Entry of every page. Each module listens on the document, so it also serves what is swapped in later.
import "./ask.js";
import "./clock.js";
import "./composer.js";
import "./menus.js";
import "./notify.js";
import "./panes.js";
import { bind, clickable } from "./keys.js";

document.addEventListener("click", (event) => {
  const [copied, permitted] = ["[data-copy-from]", "[data-permit]"].map((kind) => event.target.closest(kind));
  if (copied) {
    event.preventDefault();
    import("./copy.js").then(({ copy }) => copy(copied));
  }
  if (permitted) import("./notifications.js").then(({ permit }) => permit(permitted));
});
const { permission } = window.Notification ?? {};
if (permission === "granted" && navigator.serviceWorker) import("./notifications.js");

// Style sheets show the controls that need JavaScript only from now on.
document.documentElement.dataset.js = "on";

const rows = () => [...document.querySelectorAll("[data-session-row]")];

function openNeighbour(step) {
  const list = rows();
  const here = list.findIndex((row) => row.hasAttribute("aria-current"));
  list[here < 0 ? 0 : here + step]?.click();
}

bind({ key: "n", label: "New session", ...clickable('[data-key="n"]') });
bind({ key: "j", label: "Next session in the list", when: () => rows().length > 0, run: () => openNeighbour(1) });
bind({ key: "k", label: "Previous session in the list", when: () => rows().length > 0, run: () => openNeighbour(-1) });

// The palette comes when it is used; without scripts its link opens the search page.
const find = document.querySelector("[data-palette-open]");
find?.addEventListener("click", async (event) => {
  event.preventDefault();
  (await import("./palette.js")).open();
});
bind({ key: "Ctrl K", label: "Search and go to", when: () => find, run: null });
document.addEventListener("keydown", (event) => {
  if (!find || event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  find.click();
});
