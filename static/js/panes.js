// The rail, and what opens the side panel: the rest of that comes when it is used.
import { bind } from "./keys.js";

const RAIL_KEY = "rail";
const workspace = document.querySelector("[data-workspace]");
const app = document.querySelector("[data-app]");

const press = async (name, link) => (await import("./panel.js")).press(name, link);
const tab = (name) => workspace?.querySelector(`[data-panel-tab="${name}"]`);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-rail-toggle]")) toggleRail();
  const link = event.target.closest("[data-panel-tab]");
  if (!workspace || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  press(link.dataset.panelTab, link);
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

function toggleRail() {
  const closed = app.dataset.railState !== "closed";
  app.dataset.railState = closed ? "closed" : "open";
  localStorage.setItem(RAIL_KEY, app.dataset.railState);
}
if (app) app.dataset.railState = localStorage.getItem(RAIL_KEY) ?? "open";
if (workspace && workspace.dataset.panel !== "closed") import("./panel.js");

for (const [key, name, label] of [
  ["c", "changes", "Changes"],
  ["f", "files", "Files"],
  ["`", "terminal", "Terminal"],
  ["i", "context", "Context and cost"],
])
  bind({ key, label: `${label}: show or hide`, when: () => Boolean(tab(name)), run: () => press(name) });
bind({ key: "[", label: "List of sessions: show or hide", when: () => Boolean(app?.querySelector("[data-rail]")), run: toggleRail });
