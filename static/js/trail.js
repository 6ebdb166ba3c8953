// The way back through the side panel: what is opened is an entry of its own, and to close it goes back
// to before. `depth` counts the entries since the panel was closed; 0 where it was open from the start.

// htmx marks the entries of a page as its own with every request, and loads those anew.
htmx.config.history = false;
const state = () => history.state ?? {};

/** Another view or file is shown. `panel`: the view; `isOpening`: the panel was closed before. */
export function push(url, panel, isOpening = false) {
  if (url.href === location.href) return;
  const { depth = 0 } = state();
  history.pushState({ panel, depth: isOpening ? 1 : depth && depth + 1 }, "", url);
}

/** The same view is shown another way. */
export const replace = (url, panel = state().panel) => history.replaceState({ ...history.state, htmx: false, panel }, "", url);

/** Go back to before the panel was opened. Returns: whether it was opened on this page. */
export function back() {
  const { depth } = state();
  if (depth) history.go(-depth);
  return Boolean(depth);
}
