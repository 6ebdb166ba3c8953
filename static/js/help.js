// The list of the keys that act on this page, as the person has bound them.
const dialog = document.querySelector("[data-keys-dialog]");

/** Show the server's list of what acts here; `deed`: what a command does. */
export async function open(deed, keymap) {
  await htmx.ajax("GET", dialog.dataset.keysDialog, { target: "#keys-list", swap: "outerHTML" });
  const keysOf = ({ dataset: { action } }) => keymap[action] ?? action;
  const rows = [...dialog.querySelectorAll("[data-action]")].map((row) => [row, deed(row.dataset.action)]);
  rows.forEach(([row, { when }]) => (row.hidden = !when()));
  // Of two with the same keys the one of the pane goes before the other.
  const own = rows.filter(([row, { scoped }]) => scoped && !row.hidden).map(([row]) => keysOf(row));
  rows.forEach(([row, { scoped }]) => (row.hidden ||= !scoped && own.includes(keysOf(row))));
  for (const group of dialog.querySelectorAll("[data-keys-group]")) group.hidden = !group.querySelector("[data-action]:not([hidden])");
  if (!dialog.open) dialog.showModal();
}

dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
