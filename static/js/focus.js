// Where the focus is: in the pane that somebody goes to, and after what had it is gone.
import { place } from "./idle.js";

const WAIT_MS = 60;
const LAST_MS = 600;
const HEADS = ":is(summary, h1, h2, h3, legend, [data-focus]):not(.unseen)";
// What a pane is for; the last one is what it shows now.
const USE = "[aria-current], [data-focus], .cm-content, .xterm-helper-textarea";
const CONTROL = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
// What has the focus, and what it is in.
let trail = [];

const shown = (nodes) => [...nodes].filter((node) => node.checkVisibility());

function take(node) {
  if (node.matches("[data-prompt]")) return place();
  if (!node.matches(CONTROL)) node.tabIndex = -1;
  node.focus();
  return document.activeElement === node;
}

/** Go to what a page has first, or to its heading. */
export const arrive = (first) => [first, "main h1", "main"].some((one) => shown(document.querySelectorAll(one)).slice(0, 1).some(take));

/** Go to what a part of the page is for. */
export function enter(part) {
  take(shown(part.querySelectorAll(USE)).at(-1) ?? shown(part.querySelectorAll(CONTROL))[0] ?? part);
}

/** Go to the next pane. */
export function cycle() {
  const panes = shown(document.querySelectorAll("[data-pane], main:not(:has([data-pane]))"));
  enter(panes[(panes.findIndex((pane) => pane.contains(document.activeElement)) + 1) % panes.length]);
}

function restore() {
  for (const old of trail) {
    const here = old.isConnected ? old : document.getElementById(old.id || "-");
    if (!here?.checkVisibility()) continue;
    if ((old === trail[0] || here.matches("[data-log]")) && take(here)) return true;
    const [head] = shown(here.querySelectorAll(`:scope > ${HEADS}, :scope > * > ${HEADS}`));
    if (head && here.id !== "log" && take(head)) return true;
  }
}

function settle(isLast) {
  if (!trail[0] || document.activeElement !== document.body || document.querySelector("dialog[open]")) return;
  // Who leaves a control that is still there wants it so.
  if (trail[0].isConnected && trail[0].checkVisibility()) trail = [];
  else if (restore()) return;
  // Another swap may restore it.
  else if (!isLast) setTimeout(settle, LAST_MS, true);
  else arrive("[data-prompt]:enabled");
}

function follow(target) {
  trail = [];
  for (let node = target; node !== document.body && node; node = node.parentElement) trail.push(node);
}

document.addEventListener("focusin", ({ target }) => follow(target));
for (const type of ["focusout", "htmx:after:swap"]) document.addEventListener(type, () => setTimeout(settle, WAIT_MS));
follow(document.activeElement);

// Arrow keys go through menus, and Ctrl+Enter sends the form of a text.
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, defaultPrevented, target } = event;
  if (key === "Enter" && (ctrlKey || metaKey) && !defaultPrevented && target.matches("textarea")) target.form?.querySelector("[type=submit]").click();
  const by = { ArrowDown: 1, ArrowUp: -1 }[key];
  const menu = target.closest("[data-menu][open], .row-menu-dialog");
  if (!by || !menu || target.matches("select, textarea, [type=radio]")) return;
  event.preventDefault();
  const all = shown(menu.querySelectorAll(CONTROL));
  all.at((all.indexOf(document.activeElement) + by) % all.length)?.focus();
});
