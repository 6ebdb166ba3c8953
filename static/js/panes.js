// The side panel and the rail: open, close, and remember.
import { bind, clickable } from "./keys.js";

const RAIL_KEY = "rail";
const workspace = document.querySelector("[data-workspace]");
const app = document.querySelector("[data-app]");
const overlay = matchMedia("(max-width: 1099px)");

function showPanel(open, { focus = false } = {}) {
  workspace.dataset.panel = open ? "open" : "closed";
  document.querySelectorAll("[data-panel-toggle][aria-expanded]").forEach((item) => item.setAttribute("aria-expanded", open));
  document.querySelectorAll("[data-panel-show]").forEach((item) =>
    item.setAttribute("aria-pressed", (item.dataset.panelShow === "open") === open),
  );
  // The address says what is open, so that a reload and a link show the same.
  const url = new URL(location.href);
  if (open) url.searchParams.set("panel", "changes");
  else url.searchParams.delete("panel");
  history.replaceState(history.state, "", url);
  if (!focus || !overlay.matches) return;
  const target = open ? "#changes [data-panel-toggle]" : "#session-header [data-panel-toggle]";
  document.querySelector(target)?.focus();
}

const isOpen = () => workspace?.dataset.panel === "open";

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-rail-toggle]")) toggleRail();
  if (!workspace) return;
  const toggle = event.target.closest("[data-panel-toggle]");
  const show = event.target.closest("[data-panel-show]");
  const opener = event.target.closest("[data-panel-open]");
  if (!toggle && !show && !opener) return;
  event.preventDefault();
  showPanel(toggle ? !isOpen() : opener || show.dataset.panelShow === "open", { focus: Boolean(toggle) });
});

// The link to a file opens its section, which may be folded.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-file-link]");
  if (!link) return;
  event.preventDefault();
  const file = document.getElementById(link.hash.slice(1));
  file.open = true;
  file.scrollIntoView();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !isOpen() || !overlay.matches || document.querySelector("[data-menu][open]")) return;
  event.preventDefault();
  showPanel(false, { focus: true });
});

function toggleRail() {
  const closed = app.dataset.railState !== "closed";
  app.dataset.railState = closed ? "closed" : "open";
  localStorage.setItem(RAIL_KEY, app.dataset.railState);
}
if (app) app.dataset.railState = localStorage.getItem(RAIL_KEY) ?? "open";

bind({ key: "c", label: "Changes: show or hide", ...clickable("#session-header [data-panel-toggle], #changes [data-panel-toggle]") });
bind({ key: "[", label: "List of sessions: show or hide", when: () => Boolean(app?.querySelector("[data-rail]")), run: toggleRail });
