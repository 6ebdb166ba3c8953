// Search and commands over any page. The field keeps the focus; keys go through its options.
import { fetchFragment } from "./fragment.js";
import { make } from "./make.js";
import { living, perform } from "./perform.js";
import { load } from "./view.js";
import { _ } from "./words.js";

const WAIT_MS = 120;
const SLOW_MS = 150;
const PAGE = 8;
const dialog = document.querySelector("[data-palette]");
const input = dialog.querySelector("input");
const place = dialog.querySelector("[data-palette-list]");
const said = dialog.querySelector("[data-palette-said]");
const listbox = () => place.querySelector("[role=listbox]");
const options = () => [...place.querySelectorAll("[role=option]")];
const chosen = () => place.querySelector('[aria-selected="true"]');
let acts = "";
let timer = null;
let slow = null;
let asked = 0;
// Enter came before the answer to what was typed.
let isWanted = false;

// Done after it has closed.
let wanted = "";

/** It is open, with the last query. `isSent`: Enter was pressed already. */
export function start(isSent) {
  isWanted = isSent;
  acts = living().join();
  ask();
}

function address(more = {}) {
  const { session } = document.querySelector("main").dataset;
  const project = document.querySelector("[data-composer]")?.elements.namedItem("project")?.value;
  const near = session ? { session } : project ? { project } : {};
  const url = new URL(dialog.dataset.palette, location);
  url.search = new URLSearchParams({ q: input.value, ...near, acts, ...more });
  return url;
}

function wait(on) {
  clearTimeout(slow);
  place.ariaBusy = on || null;
  if (on && !options().length) place.replaceChildren(make("p", { className: "meta palette-none" }, _("Searching…")));
}

async function ask() {
  const turn = ++asked;
  clearTimeout(timer);
  clearTimeout(slow);
  slow = setTimeout(wait, SLOW_MS, true);
  await load(place, address());
  if (turn !== asked) return;
  wait(false);
  // A failure says so in its place, with a button to try again.
  const fault = place.querySelector("[role=alert]");
  if (fault) mark(null);
  else if (input.value.length > 1 && !/^[>@#]/.test(input.value)) askFiles(turn);
}

async function askFiles(turn) {
  const page = await fetchFragment(address({ files: 1 }));
  const found = page?.ok && page.body.querySelector("[data-found-section]");
  if (turn !== asked || !found) return;
  if (!listbox()) place.replaceChildren(...page.body.children);
  else listbox().insertBefore(found, listbox().querySelector('[data-found-section="settings"]'));
  name(chosen() ?? options()[0]);
  said.textContent = _("Results: {count}", { count: options().length });
}

function name(first) {
  options().forEach((option, index) => (option.id = `palette-option-${index}`));
  mark(first);
}

function mark(option) {
  options().forEach((one) => (one.ariaSelected = one === option));
  input.ariaExpanded = Boolean(listbox());
  if (!option) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

dialog.addEventListener("htmx:after:swap", () => {
  name(options()[0]);
  place.scrollTop = 0;
  said.textContent = options().length ? listbox().dataset.said : place.textContent.trim();
  if (isWanted) take();
});

function take() {
  const isOld = place.querySelector("[data-query]")?.dataset.query !== input.value;
  isWanted = isOld && !place.querySelector("[role=alert]");
  if (isOld) return;
  sessionStorage.step = 0;
  chosen()?.click();
}

function move(key) {
  const all = options();
  const here = all.indexOf(chosen());
  const last = all.length - 1;
  const to = { ArrowDown: here === last ? 0 : here + 1, ArrowUp: here > 0 ? here - 1 : last, Home: 0, End: last, PageDown: Math.min(here + PAGE, last), PageUp: Math.max(here - PAGE, 0) }[key];
  if (to === undefined) return false;
  if (all[to]) mark(all[to]);
  return true;
}

dialog.addEventListener("keydown", (event) => {
  if (event.target !== input || event.isComposing || event.shiftKey) return;
  if (event.key === "Enter") take();
  // Browsers would empty the field first.
  else if (event.key === "Escape") dialog.close();
  else if (!move(event.key)) return;
  event.preventDefault();
});

input.addEventListener("input", () => {
  isWanted = false;
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT_MS);
});

dialog.addEventListener("click", ({ target }) => {
  const option = target.closest("[data-found]");
  if (!option && target !== dialog) return;
  wanted = option?.dataset.act ?? "";
  dialog.close();
});
dialog.addEventListener("close", () => {
  asked++;
  isWanted = false;
  if (wanted) perform(wanted);
  wanted = "";
});
