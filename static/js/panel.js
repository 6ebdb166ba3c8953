// The side panel: its tabs, its width, and what a person's account keeps of both.
import { load } from "./view.js";

const RELOAD_MS = 1000;
const DEFAULT_WIDTH = 45;
const WIDE_WIDTH = 65;
const workspace = document.querySelector("[data-workspace]");
const edge = workspace.querySelector("[data-panel-edge]");
const overlay = matchMedia("(max-width: 1099px)");
const viewOf = (name) => workspace.querySelector(`[data-panel-view="${name}"]`);

/** Whether the panel shows: one that was left open comes by itself only where it covers nothing. */
export function isOpen() {
  const { panel } = workspace.dataset;
  return panel === "open" || (panel === "kept" && !overlay.matches);
}

function save(values) {
  const headers = JSON.parse(document.body.getAttribute("hx-headers:inherited"));
  // A taste: when it is lost, the panel is as it was before.
  fetch(workspace.dataset.save, { method: "POST", headers, body: new URLSearchParams(values), keepalive: true }).catch(() => {});
}

function mark() {
  const shown = isOpen() ? workspace.dataset.tab : "";
  workspace.querySelectorAll(".panel-head [data-panel-tab], .pane-switch [data-panel-tab]").forEach((link) => {
    if (link.dataset.panelTab === shown && !link.matches(".panel-close")) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
  workspace.querySelector("[data-panel-opener]")?.setAttribute("aria-expanded", isOpen());
}

async function fill(name) {
  const view = viewOf(name);
  if (name === "files") import("./files.js");
  if (view.dataset.src) await load(view, view.dataset.src);
  if (name === "terminal") (await import("./term.js")).start();
}

function show(name, { focus = false } = {}) {
  const open = Boolean(name);
  workspace.dataset.panel = open ? "open" : "closed";
  if (open) workspace.dataset.tab = name;
  mark();
  // The address says what is open, so that a reload and a link show the same.
  const url = new URL(location.href);
  for (const detail of ["file", "folder", "filter"]) url.searchParams.delete(detail);
  if (open) url.searchParams.set("panel", name);
  else url.searchParams.delete("panel");
  history.replaceState(history.state, "", url);
  save({ shown: name });
  if (open) fill(name);
  if (focus && overlay.matches) workspace.querySelector(open ? ".panel-head [aria-current]" : "[data-panel-opener]")?.focus();
}

/** What a click on the link of a tab does, or without a link its key. An empty name closes. */
export function press(name, link) {
  link?.closest("[data-menu]")?.removeAttribute("open");
  const toggles = !link || link.matches("[data-panel-opener], [data-meter]");
  const again = toggles && isOpen() && workspace.dataset.tab === name;
  show(again ? "" : name, { focus: !link || toggles || link.matches(".panel-close") });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !isOpen() || !overlay.matches || document.querySelector("[data-menu][open]")) return;
  event.preventDefault();
  show("", { focus: true });
});

// What was used is told by the meter; the tab follows it.
let due = null;
new MutationObserver((changes) => {
  const isMeter = changes.some(({ target }) => (target.closest ? target : target.parentElement)?.closest("[data-meter]"));
  const view = viewOf("context");
  if (!isMeter || due || view.dataset.src) return;
  due = setTimeout(() => {
    due = null;
    const src = workspace.querySelector('.panel-head [data-panel-tab="context"]').href;
    if (isOpen() && workspace.dataset.tab === "context") load(view, src);
    else view.dataset.src = src;
  }, RELOAD_MS);
}).observe(document.getElementById("session-header"), { subtree: true, childList: true, characterData: true });

function widen(percent) {
  const width = Math.min(70, Math.max(30, Math.round(percent / 5) * 5));
  workspace.dataset.width = width;
  edge.ariaValueNow = width;
  return width;
}
const width = () => Number(workspace.dataset.width ?? DEFAULT_WIDTH);

edge.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  edge.setPointerCapture(event.pointerId);
  const { left, width: whole } = workspace.getBoundingClientRect();
  const from = width();
  let moved = false;
  edge.onpointermove = (move) => {
    moved ||= Math.abs(move.clientX - event.clientX) > 4;
    if (moved) widen(100 - ((move.clientX - left) / whole) * 100);
  };
  edge.onpointerup = edge.onpointercancel = () => {
    edge.onpointermove = edge.onpointerup = edge.onpointercancel = null;
    // A click without a drag goes from one width to the other.
    if (!moved) widen(from >= WIDE_WIDTH ? DEFAULT_WIDTH : WIDE_WIDTH);
    if (width() !== from) save({ width: width() });
  };
});
edge.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: 5, ArrowRight: -5 }[event.key];
  if (!step) return;
  event.preventDefault();
  save({ width: widen(width() + step) });
});

mark();
if (isOpen()) fill(workspace.dataset.tab);
