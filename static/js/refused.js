// What the status of a refused request means.
import { toast } from "./toast.js";
import { _ } from "./words.js";
const TEXTS = {
  401: _("You are signed out. Reload the page to sign in again."),
  403: _("Your role does not allow this, or the page is out of date. Reload it and try again."),
  404: _("This no longer exists. Reload the page."),
};

/** Say it. Returns: the message. */
export const refuse = (status) => toast(TEXTS[status] ?? _("The server could not do that ({status}). Your text is kept.", { status }), "bad");

/** The server was not reached. */
export const lose = () => toast(_("No connection to the server. Nothing was sent; try again."), "lost");
