// The key map. The dialog that lists it comes when it is opened.
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

const openHelp = async () => (await import("./help.js")).open(bindings.filter((binding) => binding.when()));

bind({ key: "?", label: "This list", run: openHelp });
bind({ key: "Enter", label: "Send the message", when: hasComposer, run: null });
bind({ key: "Shift Enter", label: "New line in the message", when: hasComposer, run: null });

function hasComposer() {
  return Boolean(document.querySelector("[data-prompt]"));
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-open-keys]")) openHelp();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  if (document.body.dataset.keys === "off" || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const binding = bindings.find((item) => item.run && item.key === event.key && item.when());
  if (!binding) return;
  event.preventDefault();
  binding.run();
});
