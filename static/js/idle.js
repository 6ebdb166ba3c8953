// The message field while it was focused by the page and not used since.
let isPlaced = false;
export const form = () => document.querySelector("[data-composer]");
export const prompt = () => document.querySelector("[data-prompt]");

/** Focus the field, unless a screen keyboard would come up. Gives whether it has it. */
export function place() {
  if (matchMedia("(hover: none)").matches) return;
  prompt()?.focus();
  return (isPlaced = document.activeElement === prompt());
}

/** Whether the focus may go to something that has come. */
export const isIdle = () => isPlaced && document.activeElement === prompt() && !prompt().value;

for (const type of ["input", "pointerdown", "focusout"])
  document.addEventListener(type, ({ target }) => (isPlaced &&= !target.matches("[data-prompt]") || !document.hasFocus()));
