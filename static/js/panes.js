// The rail, and what opens the side panel: the rest of that comes when it is used.
import { bind } from "./keys.js";
import { eachPage } from "./page.js";

const workspace = () => document.querySelector("[data-workspace]");

const press = async (name, link) => (await import("./panel.js")).press(name, link);
const toggleFull = async () => (await import("./panel.js")).toggleFull();
const tab = (name) => workspace()?.querySelector(`[data-panel-tab="${name}"]`);

addEventListener("click", (event) => {
  if (event.target.closest("[data-rail-toggle]")) toggleRail();
  const acts = event.target.closest("[data-row-menu]");
  if (acts && !event.ctrlKey && !event.metaKey) openMenu(event, acts);
  if (event.target.closest("[data-review-full]") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    toggleFull();
  }
  const link = event.target.closest("[data-panel-tab]");
  if (!workspace() || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  press(link.dataset.panelTab, link);
});

// The list of sessions: what it can do beside links comes when somebody goes there.
const rail = () => import("./rail.js");
const toggleRail = async () => (await rail()).toggle();
async function openMenu(event, link) {
  event.preventDefault();
  (await import("./row_menu.js")).open(link);
}
document.addEventListener("contextmenu", (event) => {
  const link = event.target.closest("[data-row]")?.querySelector("[data-row-menu]");
  // With Shift it is the browser's own menu.
  if (link && !event.shiftKey) openMenu(event, link);
});
eachPage(() => {
  for (const kind of ["pointerover", "focusin"]) document.querySelector("[data-rail-edge]")?.addEventListener(kind, rail, { once: true });
  if (workspace() && workspace().dataset.panel !== "closed") import("./panel.js");
});

for (const id of ["changes", "files", "terminal", "preview", "context"])
  bind({ id, when: () => tab(id), run: () => press(id) });
bind({ id: "review", when: () => tab("changes"), run: toggleFull });
bind({ id: "panes", fields: ":not(.xterm *)", run: async () => (await import("./focus.js")).cycle() });
bind({ id: "rail", when: () => document.querySelector("[data-app] [data-rail]"), run: toggleRail });
