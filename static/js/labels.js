// Corrects the keys that fragments name, which are rendered once for everybody.
import { MAC, keymap } from "./keys.js";

const names = { Mod: MAC ? "⌘" : "Ctrl", Escape: "Esc", Plus: "+", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
if (MAC) Object.assign(names, { Alt: "⌥", Shift: "⇧" });

/** Keys as they are written on the keyboard. */
export function written(keys) {
  const parts = keys.split(" ").flatMap((one) => one.split("+"));
  return parts.map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(" ");
}

/** Keys as the shortcuts page has them in its fields. */
export const typed = (keys) => keys.replaceAll("Mod", MAC ? "Cmd" : "Ctrl");

function correct() {
  for (const item of document.querySelectorAll("[data-key-for]")) {
    const text = written(keymap[item.dataset.keyFor] ?? "");
    if (item.textContent !== text) item.textContent = text;
    item.hidden = !text;
  }
}
new MutationObserver(correct).observe(document.body, { childList: true, subtree: true });
correct();
