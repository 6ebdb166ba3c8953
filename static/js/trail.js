// The browser's history of the side panel: each view is an entry, and to close it goes back to before.
// `depth` counts the entries since the panel was closed; 0 where it was open from the start.

import { isCurrent } from "./page.js";

const state = () => history.state ?? {};

/** Show another view or file. `panel`: the view; `isOpening`: the panel was closed. */
export function push(url, panel, isOpening = false) {
  if (url.href === location.href) return;
  const { depth = 0 } = state();
  history.pushState({ panel, depth: isOpening ? 1 : depth && depth + 1 }, "", url);
}

export const replace = (url, panel = state().panel) => isCurrent() && history.replaceState({ ...history.state, panel }, "", url);

/** Go back to before the panel was opened. Returns: whether that was on this page. */
export function back() {
  const { depth } = state();
  if (depth) history.go(-depth);
  return depth;
}
