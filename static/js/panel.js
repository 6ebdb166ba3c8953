// The side panel: its tabs, its width, and what a person's account keeps of both.
import { enter } from "./focus.js";
import { eachPage, isCurrent } from "./page.js";
import { drag, save as keep } from "./taste.js";
import { back, push, replace } from "./trail.js";
import { load } from "./view.js";

const RELOAD_MS = 1000;
const DEFAULT_WIDTH = 45;
const WIDE_WIDTH = 65;
let workspace, edge;
const overlay = matchMedia("(max-width: 1099px)");
// The panel is where lines end.
const isRtl = document.documentElement.dir === "rtl";
const viewOf = (name) => workspace.querySelector(`[data-panel-view="${name}"]`);

/** Whether the panel shows: one that was left open comes back only where it covers nothing. */
function isOpen() {
  const { panel } = workspace.dataset;
  return panel === "open" || (panel === "kept" && !overlay.matches);
}

const save = (values) => keep(workspace.dataset.save, values);

function mark() {
  const shown = isOpen() ? workspace.dataset.tab : "";
  workspace.querySelectorAll(".panel-head [data-panel-tab], .pane-switch [data-panel-tab]").forEach((link) => {
    link.ariaCurrent = link.dataset.panelTab === shown && !link.matches(".panel-close") ? "true" : null;
  });
  workspace.querySelector("[data-panel-opener]")?.setAttribute("aria-expanded", isOpen());
}

async function fill(name) {
  const view = viewOf(name);
  if (name === "files") import("./files.js");
  if (name === "changes") import("./review.js");
  if (view.dataset.src) await load(view, view.dataset.src);
  if (name === "terminal") (await import("./term.js")).start();
  if (name === "preview") (await import("./preview.js")).start();
}

const DETAILS = ["file", "folder", "filter", "source", "turn", "from", "full"];

function addressOf(name) {
  const url = new URL(location.href);
  for (const detail of DETAILS) if (detail !== "full" || name !== "changes") url.searchParams.delete(detail);
  if (name) url.searchParams.set("panel", name);
  else url.searchParams.delete("panel");
  return url;
}

let before = null;
async function enterView(view, filled) {
  const { activeElement } = document;
  if (!document.getElementById("panel").contains(activeElement)) before = activeElement;
  const tab = workspace.querySelector(".panel-head [aria-current]");
  tab.focus();
  await filled;
  if ([tab, document.body].includes(document.activeElement) && !matchMedia("(hover: none)").matches) enter(view);
}

function leaveView() {
  const { activeElement, body } = document;
  if (activeElement !== body && activeElement.checkVisibility()) return;
  const isThere = !overlay.matches && before?.checkVisibility() && before !== body;
  (isThere ? before : workspace.querySelector(overlay.matches ? "[data-panel-opener]" : "[data-log]")).focus({ preventScroll: true });
}

/** Show a view, or none. `focus`: somebody has asked for it. */
function display(name, { focus = false } = {}) {
  const open = Boolean(name);
  delete workspace.dataset.awaitsChanges;
  workspace.dataset.panel = open ? "open" : "closed";
  if (open) workspace.dataset.tab = name;
  if (name !== "changes") delete workspace.dataset.full;
  mark();
  save({ shown: name });
  const filled = open ? fill(name) : null;
  if (focus && open) enterView(viewOf(name), filled);
  else if (focus) leaveView();
  return filled;
}

function show(name, options) {
  if (!name && back()) return null;
  const url = addressOf(name);
  if (name) push(url, name, !isOpen());
  else replace(url, "");
  return display(name, options);
}

/** The changes in the full window, or back beside the conversation. */
export async function toggleFull() {
  const isFull = !("full" in workspace.dataset);
  if (!isFull && history.state?.full) return history.back();
  const wasOpen = isOpen();
  if (workspace.dataset.panel !== "open" || workspace.dataset.tab !== "changes") await display("changes");
  workspace.toggleAttribute("data-full", isFull);
  const url = addressOf("changes");
  if (isFull) {
    url.searchParams.set("full", "1");
    push(url, "changes", !wasOpen);
    history.replaceState({ ...history.state, full: true }, "");
  } else {
    url.searchParams.delete("full");
    replace(url);
  }
  enter(viewOf("changes"));
}

const named = (address) => ["source", "turn", "from"].map((name) => new URL(address, location.href).searchParams.get(name)).join();

function isOther(name) {
  const view = viewOf(name);
  if (name === "files") return (view.querySelector("[data-files-view] .file-path")?.title ?? "") !== (new URL(location.href).searchParams.get("file") ?? "");
  const { address } = view.querySelector("[data-address]")?.dataset ?? {};
  return name === "changes" && address && named(address) !== named(location.href);
}

addEventListener("popstate", ({ state }) => {
  // Of a place in the page it says nothing.
  if (!state || !("panel" in state) || !isCurrent()) return;
  if (state.panel && isOther(state.panel)) viewOf(state.panel).dataset.src = location.href;
  display(state.panel, { focus: !state.panel });
  workspace.toggleAttribute("data-full", new URL(location.href).searchParams.has("full"));
});

/** Open a tab by its link, or without one by its key. An empty name closes. */
export function press(name, link) {
  link?.closest("[data-menu]")?.removeAttribute("open");
  // A turn's link leads to its changes, a file's to the file.
  if (/[?&](turn|file)=/.test(link?.search)) {
    viewOf(name).dataset.src = link.href;
    push(new URL(link.href), name, !isOpen());
    const shown = display(name, { focus: true });
    if (link.hash) shown.then(() => document.getElementById(link.hash.slice(1))?.scrollIntoView());
    return;
  }
  const toggles = !link || link.matches("[data-panel-opener], [data-meter]");
  const again = toggles && isOpen() && workspace.dataset.tab === name;
  show(again ? "" : name, { focus: !link || toggles || link.matches(".panel-close") });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !workspace || document.querySelector("dialog[open], [data-menu][open]")) return;
  const isFull = "full" in workspace.dataset;
  if (!isFull && !(isOpen() && overlay.matches)) return;
  event.preventDefault();
  if (isFull) toggleFull();
  else show("", { focus: true });
});

// The context tab follows the meter; estimates come by themselves.
let due = null;
function followMeter(changes) {
  const isMeter = changes.some(({ target }) => (target.closest ? target : target.parentElement)?.closest('[data-meter=""]'));
  const view = viewOf("context");
  if (!isMeter || due || view.dataset.src) return;
  due = setTimeout(() => {
    due = null;
    if (!view.isConnected) return;
    const src = workspace.querySelector('.panel-head [data-panel-tab="context"]').href;
    if (isOpen() && workspace.dataset.tab === "context") load(view, src);
    else view.dataset.src = src;
  }, RELOAD_MS);
}

// The changes come and go with the last one, unless their person has closed them or is reading.
const isReading = () => !getSelection().isCollapsed || !document.querySelector("[data-jump]").hidden;
const isInUse = () => overlay.matches || "full" in workspace.dataset || document.getElementById("panel").matches(":hover, :focus-within");

function followChanges(hasChanges, address = "") {
  const { dataset } = workspace;
  if (hasChanges && "awaitsChanges" in dataset && !overlay.matches && !isReading()) {
    delete dataset.awaitsChanges;
    Object.assign(dataset, { panel: "kept", tab: "changes" });
    fill("changes");
  } else if (!hasChanges && isOpen() && dataset.tab === "changes" && !isInUse() && !/source=(uncommitted|branch)/.test(address)) {
    Object.assign(dataset, { panel: "closed", awaitsChanges: "" });
    const url = new URL(location.href);
    url.searchParams.delete("panel");
    replace(url, "");
  } else return;
  mark();
}

async function followMark([{ target }]) {
  const view = viewOf("changes");
  const address = view.querySelector("[data-address]")?.dataset.address;
  followChanges(Number(target.dataset.count) > 0, address);
  if (!address) return;
  if (isOpen() && workspace.dataset.tab === "changes") (await import("./review.js")).refresh();
  else view.dataset.src = address;
}

function widen(percent) {
  const width = Math.min(70, Math.max(30, Math.round(percent / 5) * 5));
  return (workspace.dataset.width = edge.ariaValueNow = width);
}
const width = () => Number(workspace.dataset.width ?? DEFAULT_WIDTH);

eachPage(() => {
  workspace = document.querySelector("[data-workspace]");
  if (!workspace) return;
  edge = workspace.querySelector("[data-panel-edge]");
  before = null;
  edge.addEventListener("pointerdown", (event) => {
    const { left, right, width: whole } = workspace.getBoundingClientRect();
    const from = width();
    let moved = false;
    drag(event, ({ clientX }) => {
      moved ||= Math.abs(clientX - event.clientX) > 4;
      if (moved) widen(((isRtl ? clientX - left : right - clientX) / whole) * 100);
    }, () => {
      // A click without a drag goes from one width to the other.
      if (!moved) widen(from >= WIDE_WIDTH ? DEFAULT_WIDTH : WIDE_WIDTH);
      if (width() !== from) save({ width: width() });
    });
  });
  edge.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 5, ArrowRight: -5 }[event.key];
    if (!step) return;
    event.preventDefault();
    save({ width: widen(width() + (isRtl ? -step : step)) });
  });

  mark();
  if (isOpen()) fill(workspace.dataset.tab);
  replace(location.href, isOpen() ? workspace.dataset.tab : "");
  new MutationObserver(followMeter).observe(document.getElementById("session-header"), { subtree: true, childList: true, characterData: true });
  new MutationObserver(followMark).observe(document.getElementById("changes-mark"), { attributes: true });
});
