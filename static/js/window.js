// The part of the conversation that is in the page: follow its end, jump there, keep it short.
import { _ } from "./words.js";
const NEAR_PX = 80;
const MAX_TURNS = 120;
const log = document.querySelector("[data-log]");
const inner = document.getElementById("log");
const jump = document.querySelector("[data-jump]");
let following = true;
let fresh = 0;
let top = 0;

/** Later turns that are not in the page: what is live has no place in it then. */
export const later = () => inner?.querySelector(":scope > #later");
const isNearEnd = () => !later() && log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
const isReading = () => {
  const selection = getSelection();
  return !selection.isCollapsed && log.contains(selection.anchorNode);
};

function toEnd() {
  log.scrollTop = log.scrollHeight;
  top = log.scrollTop;
}

function follow(on) {
  following = on;
  jump.hidden = on || isNearEnd();
  if (jump.hidden) fresh = 0;
  jump.querySelector("[data-jump-text]").textContent = fresh ? _("Jump to latest · {count} new", { count: fresh }) : _("Jump to latest");
}

/** Something was added at the end. */
export function noteNew() {
  if (!log || following) return;
  fresh += 1;
  follow(false);
}

// A page that has grown long is cut at the end that nobody looks at.
function shorten(isAtEnd) {
  if (inner?.querySelectorAll("[data-turn]").length > MAX_TURNS) import("./prune.js").then(({ cut }) => cut(log, inner, MAX_TURNS, isAtEnd));
}

/** For who follows the end, earlier turns leave the page. */
export const prune = () => following && shorten(true);

/** The newest turns are in the page. */
export function showEnd() {
  toEnd();
  follow(true);
}

if (log) {
  // Only from now on may its beginning be in view: it brings earlier turns.
  log.dataset.ready = "";
  const target = document.getElementById(location.hash.slice(1) || log.dataset.at);
  if (target) {
    follow(false);
    target.scrollIntoView();
  } else if (later()) follow(false);
  else toEnd();
  // The page may have grown again before this is heard: only a move upwards is somebody's own.
  log.addEventListener("scroll", () => {
    if (isNearEnd()) following || follow(true);
    else if (log.scrollTop < top) follow(false);
    top = log.scrollTop;
  }, { passive: true });
  // Who opens something wants to see it, not the end.
  log.addEventListener("toggle", ({ target }) => target.open && target.matches(":hover, :focus-within") && follow(false), true);
  jump.addEventListener("click", () => (later() ? log.dispatchEvent(new CustomEvent("newest", { bubbles: true, detail: "show" })) : showEnd()));
  const settle = () => (following ? isReading() || toEnd() : follow(false));
  new ResizeObserver(settle).observe(inner);
  new ResizeObserver(settle).observe(log);
  document.addEventListener("htmx:before:swap", (event) => {
    if (event.detail.ctx.sourceElement?.id !== "earlier") return;
    const fromEnd = log.scrollHeight - log.scrollTop;
    requestAnimationFrame(() => {
      log.scrollTop = log.scrollHeight - fromEnd;
      shorten(false);
    });
  });
  document.addEventListener("htmx:after:swap", (event) => {
    if (event.detail.ctx.sourceElement?.id !== "later") return;
    // What came while the last turns were on their way had no place in the page.
    if (!later()) log.dispatchEvent(new CustomEvent("newest", { bubbles: true }));
    shorten(true);
  });
}
