// The part of the conversation that is in the page: follow its end, jump there, keep it short.
const NEAR_PX = 80;
const MAX_TURNS = 120;
const log = document.querySelector("[data-log]");
const inner = document.getElementById("log");
const jump = document.querySelector("[data-jump]");
let following = true;
let fresh = 0;
let top = 0;

const isNearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
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
  jump.querySelector("[data-jump-text]").textContent = fresh ? `Jump to latest · ${fresh} new` : "Jump to latest";
}

/** Something was added at the end. */
export function noteNew() {
  if (!log || following) return;
  fresh += 1;
  follow(false);
}

/** Cut the oldest turns of a page that has grown long, while its end is what is looked at. */
export function prune() {
  const turns = inner?.querySelectorAll("[data-turn]") ?? [];
  if (!following || turns.length <= MAX_TURNS) return;
  [...turns].slice(0, turns.length - MAX_TURNS).forEach((turn) => turn.remove());
  const first = inner.querySelector("[data-turn]");
  document.getElementById("earlier")?.remove();
  const link = document.createElement("a");
  const href = document.querySelector("main").dataset.window.replace(/window$/, `turns?before=${first.dataset.seq}`);
  const attributes = { id: "earlier", class: "earlier button button-quiet", href, "hx-get": href, "hx-trigger": "intersect once, click", "hx-swap": "outerHTML" };
  for (const [name, value] of Object.entries(attributes)) link.setAttribute(name, value);
  link.textContent = "Earlier turns";
  inner.prepend(link);
  htmx.process(link);
}

if (log) {
  const target = document.getElementById(location.hash.slice(1));
  if (target) {
    follow(false);
    target.scrollIntoView();
  } else toEnd();
  // The page may have grown again before this is heard: only a move upwards is somebody's own.
  log.addEventListener("scroll", () => {
    if (isNearEnd()) following || follow(true);
    else if (log.scrollTop < top) follow(false);
    top = log.scrollTop;
  }, { passive: true });
  // Who opens something wants to see it, not the end.
  log.addEventListener("toggle", ({ target }) => target.open && target.matches(":hover, :focus-within") && follow(false), true);
  jump.addEventListener("click", () => {
    toEnd();
    follow(true);
  });
  const settle = () => (following ? isReading() || toEnd() : follow(false));
  new ResizeObserver(settle).observe(inner);
  new ResizeObserver(settle).observe(log);
  document.addEventListener("htmx:before:swap", (event) => {
    if (event.detail.ctx.sourceElement?.id !== "earlier") return;
    const fromEnd = log.scrollHeight - log.scrollTop;
    requestAnimationFrame(() => (log.scrollTop = log.scrollHeight - fromEnd));
  });
}
