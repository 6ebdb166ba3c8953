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
/** Keep what is typed until `early.js` gives it to the field, or the browser brings this page back. */
window.hear = () => {
  const end = listen();
  for (const type of ["handed", "pageshow"]) addEventListener(type, end, { once: true });
};
if ("early" in sessionStorage) addEventListener("handed", listen(), { once: true });
