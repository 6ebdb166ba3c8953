// A text of which something has not come: all of it is asked for.
const REFETCH_MS = 500;
const asked = new Map();

/** Put the whole part in its place; `ready` is called just before. */
export async function ask({ id }, ready) {
  if (Date.now() - (asked.get(id) ?? 0) < REFETCH_MS) return;
  asked.set(id, Date.now());
  const url = document.querySelector("main").dataset.window.replace(/window$/, `part/${id.slice("prt-".length)}`);
  const response = await fetch(url, { headers: { "HX-Request": "true" } });
  if (!response.ok) return;
  const text = await response.text();
  const part = document.getElementById(id);
  if (!part) return;
  ready();
  htmx.swap({ target: part, text, swap: "outerMorph", sourceElement: document.body });
}
