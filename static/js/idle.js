// The message field while the page has put the focus into it, and nobody has used it since.
let isPlaced = false;
const prompt = () => document.querySelector("[data-prompt]");

/** Have what is typed next in the field, but where the keyboard on the screen would come. */
export function place() {
  if (matchMedia("(hover: none)").matches) return;
  prompt()?.focus();
  isPlaced = document.activeElement === prompt();
}

/** Whether the focus may go to something that has come. */
export const isIdle = () => isPlaced && document.activeElement === prompt() && !prompt().value;

for (const type of ["input", "pointerdown", "focusout"])
  document.addEventListener(type, ({ target }) => (isPlaced &&= !target.matches("[data-prompt]") || !document.hasFocus()));
