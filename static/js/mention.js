// Suggestions: `@` names a file, folder, agent or past session, a first `/` a command.
// The field keeps the focus; the arrow keys go through the list.
import { fetchFragment } from "./fragment.js";
import { prompt } from "./idle.js";
import { toast } from "./toast.js";
import { living, perform } from "./perform.js";

const WAIT_MS = 120;
let timer = null;
let asked = 0;

const TAKEN = "[data-insert], [data-act], [data-url]";
const list = () => document.querySelector("#mentions[data-mentions]");
const options = () => [...(list()?.querySelectorAll(TAKEN) ?? [])];
const chosen = () => list()?.querySelector('[aria-selected="true"]');

function typed(field) {
  const before = field.value.slice(0, field.selectionStart);
  return /^\/\S*$/.exec(before)?.[0] ?? /(?:^|\s)(@\S*)$/.exec(before)?.[1] ?? "";
}

function close() {
  asked++;
  clearTimeout(timer);
  const place = document.createElement("div");
  place.id = "mentions";
  place.hidden = true;
  document.getElementById("mentions")?.replaceWith(place);
  const field = prompt();
  ["role", "aria-expanded", "aria-controls", "aria-autocomplete", "aria-activedescendant"].forEach((name) => field?.removeAttribute(name));
}

function mark(option) {
  options().forEach((one) => one.setAttribute("aria-selected", one === option));
  option.scrollIntoView({ block: "nearest" });
  prompt().setAttribute("aria-activedescendant", option.id);
}

function take(option) {
  const field = prompt();
  const word = typed(field);
  const end = field.selectionStart;
  const { insert: text, act, url } = option.dataset;
  close();
  field.focus();
  if (!text) {
    field.setRangeText("", end - word.length, end, "end");
    htmx.trigger(field, "input");
    if (act) perform(act);
    else location.assign(url);
    return;
  }
  field.setRangeText(`${text} `, end - word.length, end, "end");
  // The first of the named arguments is written first.
  const first = text.indexOf("= ") + 1;
  if (first) field.selectionStart = field.selectionEnd = end - word.length + first;
  // A folder is a step on the way to a file.
  else if (/[=\/]$/.test(text)) field.setRangeText("", field.selectionStart - 1, field.selectionStart, "end");
  htmx.trigger(field, "input");
}

function address(field, word, more = {}) {
  const url = new URL(field.form.dataset.mention, location);
  for (const [name, value] of Object.entries({ q: word, ...more })) url.searchParams.set(name, value);
  if (word.startsWith("/")) url.searchParams.set("acts", living());
  for (const { dataset } of document.querySelectorAll("[data-file-pane] [data-file][aria-current]")) url.searchParams.append("open", dataset.file);
  return url;
}

async function suggestions(field, word, more) {
  const page = await fetchFragment(address(field, word, more));
  return page?.ok ? page : null;
}

const elementsOf = (page, selector) => [...(page?.body.querySelectorAll(selector) ?? [])];

/** Do the command of the page that was typed as a whole. Returns: whether it is one. */
export async function takeTyped(field, word) {
  const found = elementsOf(await suggestions(field, word), ".mention");
  const option = found.find((one) => !one.dataset.insert && one.querySelector(".mention-label")?.textContent === word);
  if (!option) return false;
  if (option.matches(TAKEN)) take(option);
  else toast(option.querySelector(".meta").textContent);
  return true;
}

async function ask(field, word) {
  const turn = ++asked;
  const page = await suggestions(field, word);
  if (turn !== asked) return;
  if (!page) return close();
  await htmx.swap({ target: document.getElementById("mentions"), text: page.text, swap: "outerHTML", sourceElement: document.body });
  Object.entries({ role: "combobox", "aria-expanded": "true", "aria-controls": "mentions", "aria-autocomplete": "list" }).forEach(([name, value]) => field.setAttribute(name, value));
  if (options()[0]) mark(options()[0]);
  if (word.length > 2 && word.startsWith("@") && !word.includes("/")) askSymbols(field, word, turn);
}

async function askSymbols(field, word, turn) {
  const found = elementsOf(await suggestions(field, word, { symbols: 1 }), "[data-insert]");
  if (turn !== asked || !list() || !found.length) return;
  const place = options().length;
  found.forEach((item, index) => (item.id = `mention-${place + index}`));
  if (!place) list().replaceChildren();
  list().append(...found);
  found.forEach((item) => item.setAttribute("aria-selected", "false"));
  if (!place) mark(found[0]);
}

function suggest(field) {
  clearTimeout(timer);
  const word = typed(field);
  if (word) timer = setTimeout(() => ask(field, word), WAIT_MS);
  else if (list()) close();
}

function step(event) {
  if (!event.target.matches("[data-prompt]") || !list() || event.isComposing) return;
  const all = options();
  const here = all.indexOf(chosen());
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key === "Escape") close();
  else if (moves[event.key] && all.length) mark(all.at((here + moves[event.key]) % all.length));
  else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && chosen()?.matches(TAKEN)) take(chosen());
  else return;
  event.preventDefault();
  event.stopPropagation();
}

document.addEventListener("keydown", step, true);
document.addEventListener("input", (event) => event.target.matches("[data-prompt]") && suggest(event.target));
// Before the field loses the focus.
document.addEventListener("mousedown", (event) => {
  const option = event.target.closest("#mentions .mention");
  if (!option) return;
  event.preventDefault();
  if (option.matches(TAKEN)) take(option);
});
document.addEventListener("focusout", (event) => event.target.matches("[data-prompt]") && close());
document.addEventListener("submit", close);
if (prompt()) suggest(prompt());
