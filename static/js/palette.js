// The palette: the list of the search page over any page, gone through by the arrow keys.
const dialog = document.querySelector("[data-palette]");
const input = dialog.querySelector("input");
const links = () => [...dialog.querySelectorAll("[data-found]")];

/** Show it, with what was looked for last. */
export function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  htmx.trigger(input, "refresh");
}

function move(step) {
  const list = links();
  const next = list.indexOf(document.activeElement) + step;
  (next < 0 ? input : (list[Math.min(next, list.length - 1)] ?? input)).focus();
}

dialog.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) move(step);
  // A list that is older than what was typed is not for Enter: the form opens the page with the right one.
  else if (event.key === "Enter" && event.target === input && dialog.querySelector("[data-query]")?.dataset.query === input.value && links().length)
    links()[0].click();
  else return;
  event.preventDefault();
});

dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.closest("[data-found]")) dialog.close();
});
