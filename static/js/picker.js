// The lists of models, agents and amounts of thinking: over the page, gone through by the keys.
// What is chosen stands in a select of the form, which is all there is without scripts.
import { form, place as goOn } from "./idle.js";
import { eachPage } from "./page.js";
import { save } from "./taste.js";
import { load } from "./view.js";

let dialog, list, filter;
const selectOf = (kind) => form().elements.namedItem(kind);
function of() {
  const { session } = document.querySelector("main").dataset;
  return session ? { session } : { project: selectOf("project").value };
}
const takes = () => [...list.querySelectorAll("[data-choice]:enabled")].filter((item) => item.checkVisibility());
let kind = "";
let isAlso = false;
let loaded = Promise.resolve();

// Where there is little room it is a sheet, and no keyboard comes up over it.
const sheet = matchMedia("(max-width: 759px)");

function place(button) {
  dialog.removeAttribute("style");
  if (sheet.matches) return;
  const { left, right, top } = button.getBoundingClientRect();
  const isRtl = getComputedStyle(button).direction === "rtl";
  const start = isRtl ? innerWidth - right : left;
  dialog.style.insetInlineStart = `${Math.max(8, Math.min(start, innerWidth - dialog.offsetWidth - 8))}px`;
  dialog.style.insetBlockEnd = `${Math.max(8, Math.min(innerHeight - top + 6, innerHeight - dialog.offsetHeight - 8))}px`;
}

function narrow() {
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const item of list.querySelectorAll("[data-find]")) item.hidden = !words.every((word) => item.dataset.find.includes(word));
  for (const group of list.querySelectorAll("[data-choice-group]")) group.hidden = !group.querySelector("[data-find]:not([hidden])");
  const none = list.querySelector("[data-choice-none]");
  if (none) none.hidden = Boolean(list.querySelector("[data-find]:not([hidden])"));
  // What Enter takes: the one that is chosen, or else the first that is left.
  mark((!filter.value && list.querySelector("[aria-current]")) || takes()[0]);
}

function mark(item) {
  list.querySelectorAll("[data-first]").forEach((other) => delete other.dataset.first);
  if (!item) return;
  item.dataset.first = "";
  item.scrollIntoView({ block: "nearest" });
}

function tellAlso(value, isOn) {
  const select = selectOf("also");
  const option = [...select.options].find((one) => one.value === value);
  if (option) option.selected = isOn;
  const place = form().querySelector("[data-also]");
  const model = place.querySelector("template");
  const chosen = [...select.selectedOptions].map((one) => {
    const button = model.content.firstElementChild.cloneNode(true);
    button.dataset.pick = `off ${one.value}`;
    button.firstElementChild.textContent = one.label;
    return button;
  });
  place.replaceChildren(...chosen, model);
}

/** Show the choices of a kind: model, variant or agent; of what is to run as well with `also` before it. */
export function open(name) {
  if (name.startsWith("off ")) return tellAlso(name.slice("off ".length), false);
  const button = form()?.querySelector(`[data-pick="${name}"]`);
  if (!button?.checkVisibility()) return;
  [kind, isAlso] = [name.replace("also ", ""), name.startsWith("also ")];
  const select = selectOf(kind);
  const url = new URL(form().dataset.choices, location);
  url.search = new URLSearchParams({ kind, chosen: select.value, model: selectOf("model").value, ...of() });
  dialog.querySelector("[data-picker-title]").textContent = select.ariaLabel ?? "";
  filter.value = "";
  list.replaceChildren();
  list.ariaBusy = true;
  if (!dialog.open) dialog.showModal();
  if (!sheet.matches) filter.focus();
  place(button);
  loaded = load(list, url).then(() => {
    place(button);
    narrow();
    list.ariaBusy = null;
  });
}

function write(select, value) {
  select.value = value;
  select.closest(".pick").querySelector("[data-pick-label]").textContent = select.selectedOptions[0]?.label ?? "";
}

function offerVariants(variants) {
  const select = selectOf("variant");
  const before = select.value;
  select.replaceChildren(...variants.map(([value, label]) => new Option(label, value)));
  write(select, variants.some(([value]) => value === before) ? before : "");
  select.closest("[data-variants]").hidden = !variants.length;
}

function take(item) {
  const select = selectOf(kind);
  const { choice, label, variants, reads } = item.dataset;
  if (isAlso) {
    const value = `${kind}:${choice}`;
    if (!selectOf("also").querySelector(`[value="${CSS.escape(value)}"]`)) selectOf("also").add(new Option(label, value));
    tellAlso(value, true);
    return dialog.close();
  }
  if (![...select.options].some((option) => option.value === choice)) {
    const option = new Option(label, choice);
    if (reads) option.dataset.reads = reads;
    select.add(option);
  }
  write(select, choice);
  if (kind === "model") {
    offerVariants(JSON.parse(variants));
    for (const one of document.querySelectorAll("[data-of-model]")) one.remove();
  }
  save(form().dataset.save, { ...of(), [kind]: choice });
  htmx.trigger(select, "change");
  dialog.close();
  goOn();
}

function step(by) {
  const all = takes();
  const here = all.indexOf(document.activeElement.matches("[data-choice]") ? document.activeElement : list.querySelector("[data-first]"));
  (here + by < 0 ? filter : all[Math.min(here + by, all.length - 1)])?.focus();
}

eachPage(() => {
  dialog = document.querySelector("[data-picker]");
  if (!dialog) return;
  [list, filter] = ["list", "filter"].map((name) => dialog.querySelector(`[data-picker-${name}]`));
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isTaken = event.key === "Enter" && event.target === filter && !event.isComposing;
    // What is pressed while the list loads is for the list.
    if (by || isTaken) loaded.then(() => dialog.open && (by ? step(by) : list.querySelector("[data-first]")?.click()));
    else if (event.key === "Escape") dialog.close();
    else {
      // Who goes on typing filters further.
      if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) filter.focus();
      return;
    }
    event.preventDefault();
  });
  dialog.addEventListener("focusin", ({ target }) => target.matches("[data-choice]") && mark(target));
  dialog.addEventListener("input", narrow);
  dialog.addEventListener("htmx:after:swap", narrow);
  dialog.addEventListener("click", ({ target }) => {
    const item = target.closest("[data-choice]");
    if (item) take(item);
    else if (target === dialog || target.closest("[data-picker-close]")) dialog.close();
  });
});
