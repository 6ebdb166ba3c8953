// The dialog that lists the keys which do something on this page, as the person has bound them.
const dialog = document.querySelector("[data-keys-dialog]");

/** Show the list of the server, without what `isAlive(id)` says does nothing here. */
export async function open(isAlive) {
  await htmx.ajax("GET", dialog.dataset.keysDialog, { target: "#keys-list", swap: "outerHTML" });
  for (const row of dialog.querySelectorAll("[data-action]")) row.hidden = !isAlive(row.dataset.action);
  for (const group of dialog.querySelectorAll("[data-keys-group]")) group.hidden = !group.querySelector("[data-action]:not([hidden])");
  if (!dialog.open) dialog.showModal();
}

dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
