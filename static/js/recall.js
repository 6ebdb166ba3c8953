// Earlier messages come back into an empty field. The arrow keys walk on while nothing is changed.
let place = -1;

const said = () => [...document.querySelectorAll("#log .prompt-text")].map((node) => node.textContent.trim()).reverse();

/** One step back (1) or forward (-1). Returns: whether there was something. */
export function recall(field, step) {
  const texts = said();
  if (!field.value) place = -1;
  if (place + step < -1 || place + step >= texts.length) return;
  place += step;
  field.value = texts[place] ?? "";
  htmx.trigger(field, "input");
  field.selectionStart = field.value.length;
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  if (!step || !event.target.matches("[data-prompt]") || !event.target.value || event.target.value !== said()[place]) return;
  event.preventDefault();
  recall(event.target, step);
});
