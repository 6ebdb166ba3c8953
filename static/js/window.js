// The part of the conversation in the page: follow its end, jump there, keep it short.
import { eachPage } from "./page.js";
import { _ } from "./words.js";
const NEAR_PX = 80;
const MAX_TURNS = 120;
let log, inner, jump;
let following, fresh, top;

/** Later turns that are not in the page: what is live has no place in it then. */
export const later = () => inner?.querySelector(":scope > #later");
const isNearEnd = () => !later() && log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
const isReading = () => !getSelection().isCollapsed && log.contains(getSelection().anchorNode);

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

const ends = () => import("./prune.js").then(({ keep }) => keep(MAX_TURNS));

/** For who follows the end, earlier turns leave the page. */
export function prune() {
  if (following && inner?.querySelectorAll("[data-turn]").length > MAX_TURNS) ends().then((cut) => cut(true));
}

/** What is shown has grown or shrunk. */
export const settle = () => log && (following ? isReading() || toEnd() : follow(false));

/** The newest turns are in the page. */
export function showEnd() {
  toEnd();
  follow(true);
}

eachPage(() => {
  [log, inner, jump] = ["[data-log]", "#log", "[data-jump]"].map((css) => document.querySelector(css));
  [following, fresh, top] = [true, 0, 0];
  if (!log) return;
  const target = document.getElementById(location.hash.slice(1) || log.dataset.at);
  if (target) {
    follow(false);
    target.scrollIntoView();
  } else if (later()) follow(false);
  else toEnd();
  // The page may have grown since: only a move upwards is somebody's own.
  log.addEventListener("scroll", () => {
    if (isNearEnd()) following || follow(true);
    else if (log.scrollTop < top) follow(false);
    top = log.scrollTop;
  }, { passive: true });
  // Who opens something wants to see it, not the end.
  log.addEventListener("click", ({ target }) => target.closest("details:not([open]) > summary") && follow(false));
  jump.addEventListener("click", () => (later() ? htmx.trigger(log, "newest", "show") : showEnd()));
  new ResizeObserver(settle).observe(inner);
  new ResizeObserver(settle).observe(log);
  // What brings other turns may be in view only from now on.
  if (inner.querySelector(":scope > :is(#earlier, #later)")) ends();
});
