// The dialog that lists the keys which do something on this page.
const dialog = document.querySelector("[data-keys-dialog]");
const names = { Y: "Shift Y", Escape: "Esc Esc" };

/** Show these keys: [{key, label}]. */
export function open(bindings) {
  const list = dialog.querySelector("[data-keys-list]");
  list.replaceChildren(
    ...bindings.flatMap((binding) => {
      const term = document.createElement("dt");
      const key = document.createElement("kbd");
      const text = document.createElement("dd");
      key.textContent = names[binding.key] ?? (binding.key.length === 1 ? binding.key.toUpperCase() : binding.key);
      text.textContent = binding.label;
      term.append(key);
      return [term, text];
    }),
  );
  dialog.showModal();
}

dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
