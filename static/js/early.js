// Keys that were meant for the message field of a page before it was there.
import { place, prompt } from "./idle.js";

/** Put them into the field, before what came since. Without any it has the focus. */
export function hand() {
  const field = prompt();
  const { value, defaultValue } = field;
  dispatchEvent(new Event("handed"));
  const early = sessionStorage.early ?? "";
  delete sessionStorage.early;
  const card = document.querySelector("[data-permissions] [data-permission]");
  if (!early) return card ? card.focus() : place();
  field.value = defaultValue + early + value.replace(defaultValue, "");
  field.focus();
  field.selectionStart = field.value.length;
  htmx.trigger(field, "input");
}
