// A conversation that has grown long in the page.
import { _ } from "./words.js";

/** Cut the turns at one end, and offer them again there. What is in view stays where it is. */
export function cut(log, inner, kept, isAtEnd) {
  const turns = [...inner.querySelectorAll("[data-turn]")];
  const extra = isAtEnd ? turns.slice(0, -kept) : turns.slice(kept);
  if (!extra.length) return;
  const fromEnd = log.scrollHeight - log.scrollTop;
  const start = extra[0].dataset.seq;
  extra.forEach((turn) => turn.remove());
  if (isAtEnd) {
    offer(inner, "earlier", `before=${inner.querySelector("[data-turn]").dataset.seq}`, _("Earlier turns"));
    log.scrollTop = log.scrollHeight - fromEnd;
  } else offer(inner, "later", `start=${start}`, _("Later turns"));
}

function offer(inner, id, query, text) {
  document.getElementById(id)?.remove();
  const link = document.createElement("a");
  const href = document.querySelector("main").dataset.window.replace(/window$/, `turns?${query}`);
  const attributes = { id, class: `${id} button button-quiet`, href, "hx-get": href, "hx-trigger": "intersect once, click", "hx-swap": "outerHTML" };
  for (const [name, value] of Object.entries(attributes)) link.setAttribute(name, value);
  link.textContent = text;
  inner[id === "later" ? "append" : "prepend"](link);
  htmx.process(link);
}
