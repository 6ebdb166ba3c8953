// What polls pauses while nobody sees it, and polls at once when somebody does.
const POLLED = "[hx-trigger^=every]";
const pointer = matchMedia("(hover: hover)");
// Nobody clicks a moving row.
const AIMED = "[data-row] a:hover";

document.addEventListener("htmx:config:request", (event) => {
  const { target } = event;
  if (!target.matches?.(POLLED)) return;
  if (document.hidden || (pointer.matches && target.querySelector(AIMED))) event.preventDefault();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll(POLLED).forEach((one) => htmx.trigger(one, "every", {}, false));
});
