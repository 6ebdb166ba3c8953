// Parts that a link loads into the page: busy on their way, and after a failure their place says so,
// with the link to try again.
import { make } from "./make.js";
import { _ } from "./words.js";

const PART = 'a[hx-get]:is([hx-target^="#body-"], [hx-target^="#shown-"], [hx-target="#changes"], #earlier, #later)';

document.addEventListener("htmx:before:request", ({ target }) => {
  if (!target.matches?.(PART)) return;
  target.ariaBusy = "true";
  target.fault?.remove();
});

// No toast: what failed says so itself, unless the server has something to say.
function keepHere(event) {
  const { response } = event.detail.ctx ?? {};
  const isSaid = response && (response.status < 400 || response.status === 401 || response.headers.has("HX-Retarget"));
  if (isSaid || !event.target.matches?.(PART)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}
for (const type of ["htmx:before:response", "htmx:error"]) document.addEventListener(type, keepHere, true);

document.addEventListener("htmx:finally:request", ({ target, detail: { ctx } }) => {
  if (!target.matches?.(PART)) return;
  target.ariaBusy = null;
  if (ctx.status === "swapped") return;
  const said = ctx.response ? _("The server sent an unexpected response.") : _("The server cannot be reached.");
  target.fault = make("p", { className: "part-fault", role: "alert" }, said);
  target.before(target.fault);
  target.textContent = _("Try again");
  target.classList.remove("button-quiet");
});
