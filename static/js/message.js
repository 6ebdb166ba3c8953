// Words that come into the message from elsewhere on the page.
import { place, prompt } from "./idle.js";

/** Write text into the message at the cursor, as a word of its own. */
export function writeAtCursor(text) {
  const field = prompt();
  const before = field.value.slice(0, field.selectionStart);
  field.setRangeText(`${/(^|\s)$/.test(before) ? "" : " "}${text}`, field.selectionStart, field.selectionEnd, "end");
  htmx.trigger(field, "input");
}

/** Write it, and let its person go on there. */
export function insertIntoMessage(text) {
  writeAtCursor(text);
  if (matchMedia("(max-width: 1099px)").matches) document.querySelector('.panel-head [data-panel-tab=""]').click();
  place();
}
