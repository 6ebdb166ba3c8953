// Fields of the shortcuts page record keys, except Tab, Enter and Escape.
import { keymap, stroke } from "./keys.js";
import { typed } from "./labels.js";
import { announce } from "./notify.js";

const OWN = new Set(["Tab", "Shift+Tab", "Enter"]);
let begun = null;

document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!field.matches("[data-record]") || event.isComposing) return;
  const pressed = stroke(event);
  event.stopImmediatePropagation();
  if (OWN.has(pressed)) return;
  event.preventDefault();
  if (!pressed) return;
  take(field, pressed);
  field.toggleAttribute("data-changed", field.value !== field.defaultValue);
}, true);

function take(field, pressed) {
  if (pressed === "Escape") field.value = field.defaultValue;
  else if (pressed === "Backspace" || pressed === "Delete") field.value = "";
  else {
    // No time limit between the two keys; a third one begins anew.
    field.value = begun ? `${begun} ${typed(pressed)}` : typed(pressed);
    begun = begun ? null : field.value;
    return;
  }
  begun = null;
}

document.addEventListener("focusin", () => (begun = null));
document.documentElement.dataset.records = "on";

// The page that was answered has the new keys: they act without loading it again.
document.addEventListener("htmx:after:swap", () => {
  const said = document.querySelector("[data-said]");
  if (said) announce(said.textContent);
  const acting = JSON.parse(document.querySelector("[data-acting]")?.dataset.acting ?? "null");
  if (!acting) return;
  for (const id of Object.keys(keymap)) delete keymap[id];
  Object.assign(keymap, acting);
});
