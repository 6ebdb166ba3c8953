// Asks for what has not come: a whole text, or the window of the conversation.
import { fetchFragment } from "./fragment.js";
import { later, showEnd } from "./window.js";

const REFETCH_MS = 500;
const asked = new Map();

/** Put the whole part in its place; `ready` is called just before. */
export async function ask({ id }, ready) {
  if (Date.now() - (asked.get(id) ?? 0) < REFETCH_MS) return;
  asked.set(id, Date.now());
  const url = document.querySelector("main").dataset.window.replace(/window$/, `part/${id.slice("prt-".length)}`);
  const page = await fetchFragment(url);
  const part = document.getElementById(id);
  if (!page?.ok || !part) return;
  ready();
  htmx.swap({ target: part, text: page.text, swap: "outerMorph", sourceElement: document.body });
}

/** Whoever reads what is past stays there, unless the newest is asked for. */
export async function askAll(page, applyAll, isAsked = !later(), shows = false) {
  const main = document.querySelector("main");
  const response = await fetch(main.dataset.window);
  if (!response.ok) return location.reload();
  const frame = await response.json();
  if (!main.isConnected) return;
  page.cursor = frame.q;
  applyAll(isAsked ? frame.ops : frame.ops.filter(([selector]) => selector !== "#log"));
  if (shows) showEnd();
}
