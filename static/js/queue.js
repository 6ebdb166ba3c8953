// Queued messages are dragged by grips; buttons do the same for keys and fingers. Steers stay first,
// so a row moves only among its kind.
let row = null;

const rowOf = ({ target }) => target.closest?.("#queue > .queue-row");
const mark = (over, side) => {
  document.querySelectorAll("[data-put]").forEach((one) => delete one.dataset.put);
  if (over) over.dataset.put = side;
};

addEventListener("dragstart", (event) => {
  const held = event.target.closest?.("[data-grip]") && rowOf(event);
  if (!held?.querySelector(".queue-move").checkVisibility()) return;
  row = held;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
  event.dataTransfer.setDragImage(row, 12, row.offsetHeight / 2);
});
addEventListener("dragover", (event) => {
  if (!row) return;
  const over = rowOf(event);
  if (over?.dataset.kind !== row.dataset.kind || over === row) return mark();
  event.preventDefault();
  const { top, height } = over.getBoundingClientRect();
  mark(over, event.clientY < top + height / 2 ? "above" : "below");
});
addEventListener("drop", (event) => {
  const over = row && document.querySelector("[data-put]");
  if (!over) return;
  event.preventDefault();
  const next = over.dataset.put === "above" ? over : over.nextElementSibling;
  const values = { before: next?.id.replace("queued-", "") ?? "" };
  htmx.ajax("POST", row.querySelector(".queue-move").action, { values, target: "#queue", swap: "outerMorph" });
});
addEventListener("dragend", () => {
  row = null;
  mark();
});

// Who edits a message mostly adds to it.
addEventListener("focusin", ({ target }) => target.matches("textarea[autofocus]") && (target.selectionStart = target.value.length));
