// Answers of the server, put into the page. By itself: modules must not import in a ring.
import { make } from "./make.js";
import { _ } from "./words.js";

/** Whether a view may be replaced: with unsaved text in it, its person is asked. */
export function mayReplace(view) {
  const unsaved = view.querySelector("[data-unsaved]");
  if (unsaved && !confirm(_("Discard the unsaved changes to this file?"))) return false;
  unsaved?.removeAttribute("data-unsaved");
  return true;
}

/** Load an address into a view of the panel. Where it fails, the view says so. */
export async function load(view, src) {
  if (!mayReplace(view)) return delete view.dataset.src;
  const token = (view.loading = {});
  view.ariaBusy = "true";
  let text = "";
  try {
    const response = await fetch(src, { headers: { "HX-Request": "true" } });
    if (response.redirected) return location.reload();
    text = await response.text();
    if (!response.ok) throw new Error(new DOMParser().parseFromString(text, "text/html").body.textContent.trim());
  } catch (error) {
    if (view.loading === token) fail(view, src, error instanceof TypeError ? _("The server cannot be reached.") : error.message);
    return;
  }
  if (view.loading !== token) return;
  delete view.dataset.src;
  view.ariaBusy = null;
  await htmx.swap({ target: view, text, swap: "innerHTML", sourceElement: view });
}

function fail(view, src, reason) {
  view.ariaBusy = null;
  const said = reason.slice(0, 300) || _("The server sent an unexpected response.");
  const button = make("button", { className: "button", type: "button", onclick: () => load(view, src) }, _("Try again"));
  view.replaceChildren(make("p", { className: "panel-wait", role: "alert" }, `${said} `, button));
}
