// Where the focus is: in the pane that somebody goes to, and after what had it is gone.
const WAIT_MS = 60;
const HEADS = ":is(summary, h1, h2, h3, legend, [data-focus])";
// What a pane is for; the last one is what it shows now.
const USE = "[aria-current], [data-focus], .cm-content, .xterm-helper-textarea";
const CONTROL = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
// What has the focus, and what it is in.
let trail = [];

const shown = (nodes) => [...nodes].filter((node) => node.checkVisibility());

function take(node) {
  if (!node.matches(CONTROL)) node.tabIndex = -1;
  node.focus();
}

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
    if (old === trail[0] || here.matches("[data-log]")) return take(here);
    const [head] = shown(here.querySelectorAll(`:scope > ${HEADS}, :scope > * > ${HEADS}`));
    if (head && here.id !== "log") return take(head);
  }
}

function settle() {
  if (document.activeElement !== document.body || document.querySelector("dialog[open]")) return;
  // Who leaves a control that is still there wants it so.
  if (!trail[0]?.isConnected || !trail[0].checkVisibility()) restore();
  trail = [];
}

function follow(target) {
  trail = [];
  for (let node = target; node !== document.body && node; node = node.parentElement) trail.push(node);
}

document.addEventListener("focusin", ({ target }) => follow(target));
// Not every browser tells of what is taken away.
for (const type of ["focusout", "htmx:after:swap"]) document.addEventListener(type, () => setTimeout(settle, WAIT_MS));
follow(document.activeElement);
