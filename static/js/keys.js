// The key map, and the dialog that lists the keys which do something on this page.
const bindings = [];

/** Add a key: {key, label, run, when}. `when` says whether it does anything here and now. */
export function bind(binding) {
  bindings.push({ when: () => true, ...binding });
}

/** The `when` and `run` of a key that stands for a click on the first visible match. */
export function clickable(selector) {
  const find = () => [...document.querySelectorAll(selector)].find((item) => item.checkVisibility());
  return { when: () => Boolean(find()), run: () => find().click() };
}

export function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=checkbox],[type=radio]), textarea, select, [contenteditable]"));
}

const dialog = () => document.querySelector("[data-keys-dialog]");
const keyNames = { Y: "Shift Y", Escape: "Esc Esc" };

function openHelp() {
  const list = dialog().querySelector("[data-keys-list]");
  list.replaceChildren(
    ...bindings.filter((binding) => binding.when()).flatMap((binding) => {
      const term = document.createElement("dt");
      const key = document.createElement("kbd");
      const text = document.createElement("dd");
      key.textContent = keyNames[binding.key] ?? (binding.key.length === 1 ? binding.key.toUpperCase() : binding.key);
      text.textContent = binding.label;
      term.append(key);
      return [term, text];
    }),
  );
  dialog().showModal();
}

bind({ key: "?", label: "This list", run: openHelp });
bind({ key: "Enter", label: "Send the message", when: hasComposer, run: null });
bind({ key: "Shift Enter", label: "New line in the message", when: hasComposer, run: null });

function hasComposer() {
  return Boolean(document.querySelector("[data-prompt]"));
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-open-keys]")) openHelp();
  if (event.target === dialog()) dialog().close();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  if (document.body.dataset.keys === "off" || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const binding = bindings.find((item) => item.run && item.key === event.key && item.when());
  if (!binding) return;
  event.preventDefault();
  binding.run();
});
