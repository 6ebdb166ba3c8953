// Keys that were meant for the message field of a page before it was there.
import { place } from "./idle.js";
import "./write.js";

/** Keep what is typed until the next page. `events`: keys that `hear` has caught by now. */
export function listen(events, hear) {
  const typed = [];
  const keep = (event) => {
    const { key } = event;
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Backspace") typed.pop();
    else if ([...key].length === 1) typed.push(key);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
    sessionStorage.early = typed.join("");
  };
  events.forEach(keep);
  document.removeEventListener("keydown", hear, true);
  document.addEventListener("keydown", keep, true);
  // The browser may bring this page back as it was left.
  addEventListener("pageshow", () => document.removeEventListener("keydown", keep, true), { once: true });
}

/** Give them to the field, before what it has got by itself since it is there. Without any it has the focus. */
export function hand() {
  const field = document.querySelector("[data-prompt]");
  const { value, defaultValue } = field;
  const early = sessionStorage.early ?? "";
  delete sessionStorage.early;
  const card = document.querySelector("[data-permissions] [data-permission]");
  if (!early) return card ? card.focus() : place();
  field.value = defaultValue + early + value.replace(defaultValue, "");
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  htmx.trigger(field, "input");
}
