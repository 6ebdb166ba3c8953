// Corrects the keys that fragments name, which are rendered once for everybody.
import { MAC, keymap } from "./keys.js";

const names = JSON.parse(document.querySelector("[data-key-names]").dataset.keyNames);

/** Keys as they are written on the keyboard. */
function written(keys) {
  const parts = keys.split(" ").flatMap((one) => one.split("+"));
  return parts.map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(" ");
}

/** Keys as the shortcuts page has them in its fields. */
export const typed = (keys) => keys.replace(/(Mod|Shift)(?=\+)/g, (part) => (MAC ? { Mod: "Cmd" } : names)[part] ?? part);

function correct() {
  for (const item of document.querySelectorAll("[data-key-for], [data-keys]")) {
    const text = written(item.dataset.keys ?? keymap[item.dataset.keyFor] ?? "");
    if (item.textContent !== text) item.textContent = text;
    item.hidden = !text;
  }
  for (const item of document.querySelectorAll("[data-title-for]")) {
    const keys = keymap[item.dataset.titleFor];
    item.title = item.title.replace(/( \([^()]*\))?$/, keys ? ` (${written(keys)})` : "");
  }
}
new MutationObserver(correct).observe(document.body, { childList: true, subtree: true });
correct();
