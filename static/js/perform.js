// Commands by their ids, for the palette and the message field.
import { actions, deed } from "./keys.js";

/** The ids of what does something here and now. */
export function living() {
  const marked = [...document.querySelectorAll("[data-command]")].map((item) => item.dataset.command);
  return [...new Set([...actions.map(({ id }) => id), ...marked])].filter((id) => deed(id).when());
}

/** Do it, as its keys would. */
export function perform(id) {
  // On the page that it leads to, the focus goes on.
  sessionStorage.step = 0;
  deed(id).run();
}
