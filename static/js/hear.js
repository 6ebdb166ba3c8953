// Keys for the message field of the next page. Modules come later than the first of them.
const listen = () => {
  const typed = [...(sessionStorage.early ??= "")];
  const keep = (event) => {
    const { key } = event;
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Backspace") typed.pop();
    else if ([...key].length === 1) typed.push(key);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
    sessionStorage.early = typed.join("");
  };
  addEventListener("keydown", keep, true);
  return () => removeEventListener("keydown", keep, true);
};
/** Keep what is typed. The browser may bring this page back as it was left. */
window.hear = () => addEventListener("pageshow", listen(), { once: true });
if ("early" in sessionStorage) {
  const end = listen();
  // `early.js` is what gives them to the field.
  addEventListener("handed", end);
  addEventListener("DOMContentLoaded", () => document.querySelector("[data-prompt]") || end());
}
