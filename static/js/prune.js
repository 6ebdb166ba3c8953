// A conversation that is long in the page is cut at the end that nobody looks at.
import { eachPage } from "./page.js";
import { _ } from "./words.js";

let log, inner;
let kept = Infinity;

/** Keep so many turns. Returns: what cuts the others. */
export function keep(most) {
  kept = most;
  return cut;
}

/** Cut the turns at one end, and offer them there. What is in view stays in place. */
function cut(isAtEnd) {
  const turns = [...inner.querySelectorAll("[data-turn]")];
  const extra = isAtEnd ? turns.slice(0, -kept) : turns.slice(kept);
  if (!extra.length) return;
  const fromEnd = log.scrollHeight - log.scrollTop;
  const start = extra[0].dataset.seq;
  extra.forEach((turn) => turn.remove());
  if (isAtEnd) {
    offer("earlier", `before=${inner.querySelector("[data-turn]").dataset.seq}`, _("Earlier turns"));
    log.scrollTop = log.scrollHeight - fromEnd;
  } else offer("later", `start=${start}`, _("Later turns"));
}

function offer(id, query, text) {
  document.getElementById(id)?.remove();
  const link = document.createElement("a");
  const href = document.querySelector("main").dataset.window.replace(/window$/, `turns?${query}`);
  const attributes = { id, class: `${id} button button-quiet`, href, "hx-get": href, "hx-trigger": "intersect once, click", "hx-swap": "outerHTML" };
  for (const [name, value] of Object.entries(attributes)) link.setAttribute(name, value);
  link.textContent = text;
  inner[id === "later" ? "append" : "prepend"](link);
  htmx.process(link);
}

document.addEventListener("htmx:before:swap", (event) => {
  if (event.detail.ctx.sourceElement?.id !== "earlier") return;
  const fromEnd = log.scrollHeight - log.scrollTop;
  requestAnimationFrame(() => {
    log.scrollTop = log.scrollHeight - fromEnd;
    cut(false);
  });
});
document.addEventListener("htmx:after:swap", (event) => {
  if (event.detail.ctx.sourceElement?.id !== "later") return;
  // What came since had no place in the page.
  if (!inner.querySelector(":scope > #later")) htmx.trigger(log, "newest");
  cut(true);
});
eachPage(() => {
  [log, inner] = [document.querySelector("[data-log]"), document.getElementById("log")];
  if (log) log.dataset.ready = "";
});
