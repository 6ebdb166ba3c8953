// Keys that were meant for the message field of a page before it was there.
import { place, prompt } from "./idle.js";

/** Keep what is typed until the next page. `events`: what `hear` has caught so far. */
export function listen(events, hear) {
  const typed = [...(sessionStorage.early ?? "")];
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

/** Put them into the field, before what came since. Without any it has the focus. */
export function hand() {
  const field = prompt();
  const { value, defaultValue } = field;
  const early = sessionStorage.early ?? "";
  delete sessionStorage.early;
  const card = document.querySelector("[data-permissions] [data-permission]");
  if (!early) return card ? card.focus() : place();
  field.value = defaultValue + early + value.replace(defaultValue, "");
  field.focus();
  field.selectionStart = field.value.length;
  htmx.trigger(field, "input");
}
