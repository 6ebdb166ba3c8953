// Words for the message to the agent that come from elsewhere on the page.

/** Write text into the message at the cursor, as a word of its own, and let its person go on. */
export function insertIntoMessage(text) {
  const field = document.querySelector("[data-prompt]");
  const before = field.value.slice(0, field.selectionStart);
  field.setRangeText(`${/(^|\s)$/.test(before) ? "" : " "}${text}`, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (matchMedia("(max-width: 1099px)").matches) document.querySelector('.panel-head [data-panel-tab=""]').click();
  field.focus();
}
