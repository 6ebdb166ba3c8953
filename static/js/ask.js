// Requests of agents: announced, answered by keys, deaf for the first half second.
import { isIdle, place } from "./idle.js";
import { bind, deed, isTyping, keymap, stroke, write } from "./keys.js";
import { alertUser, toast } from "./toast.js";
import { _ } from "./words.js";

// A key or a click on its way when the card appears was not meant for it.
const GUARD_MS = 500;
// The next letter of a word has come by then.
const WORD_MS = 300;
const arrived = new WeakMap();
let answered = null;
// The character that waits to be an answer.
let held = "";
let timer = null;
const cards = () => [...document.querySelectorAll("[data-permission]")];
const card = () => document.activeElement.closest("[data-permission]") ?? cards()[0];
const first = (selector) => [...(card()?.querySelectorAll(selector) ?? [])].find((one) => one.checkVisibility());

// Drawn for everybody.
const sheet = new CSSStyleSheet();
sheet.replaceSync(`[data-may]:not([data-may~="${document.body.dataset.user}"]) { display: none }`);
document.adoptedStyleSheets = [sheet];

function isFresh(card) {
  return performance.now() - (arrived.get(card) ?? 0) < GUARD_MS;
}

function isMeant() {
  const { activeElement: focused, body } = document;
  return card() && !isFresh(card()) && (focused === body || card().closest(".pane, main").contains(focused));
}

function goOn() {
  if (!answered || answered.isConnected) return;
  answered = null;
  if (document.activeElement !== document.body) return;
  if (cards()[0]) cards()[0].focus();
  else place();
}

function receive(card, aloud) {
  arrived.set(card, performance.now());
  if (card.querySelector("[data-steps]")) import("./ask_steps.js").then(({ begin }) => begin(card));
  // A row of a list has its card in it.
  if (aloud && isIdle()) card.focus();
  if (aloud && !card.parentElement.closest("[data-permission]")) alertUser(_("The agent asks: {what}", { what: document.getElementById(card.getAttribute("aria-labelledby")).textContent }));
}

document.addEventListener("submit", (event) => {
  const own = event.target.closest("[data-permission]");
  if (!own) return;
  if (!isFresh(own)) return (answered = own);
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

/** Begin with what is there; `aloud`: it came while the page was open. */
export function start(dock, aloud) {
  cards().forEach((card) => receive(card, aloud));
  if (!dock) return;
  new MutationObserver(() => {
    cards().filter((card) => !arrived.has(card)).forEach((card) => receive(card, true));
    if (!cards().length) alertUser("");
    goOn();
  }).observe(dock, { childList: true, subtree: true });
}

// On a phone the list opens in the card, and below what is in sight.
document.addEventListener("toggle", ({ target }) => target.open && target.matches(".permission-always") && target.scrollIntoView({ block: "nearest" }), true);

// To remember nothing is no answer.
document.addEventListener("change", ({ target }) => {
  if (target.name === "pattern") target.form.querySelector("button").disabled = !target.form.querySelector("[name=pattern]:checked");
});

function begin(character, act) {
  held = character;
  timer = setTimeout(() => {
    held = "";
    act();
  }, WORD_MS);
}

// In a list only the row that has the focus is answered.
function isChosen() {
  if (!cards()[0].closest("[data-refresh]") || document.activeElement.closest("[data-permission]")) return true;
  cards()[0].focus();
  toast(_("Selected. Press the key again to answer."));
}

function answer(name, act) {
  const found = () => first(`[data-answer="${name}"]`);
  return { when: () => isMeant() && found(), run: (event) => isChosen() && act(found(), event) };
}

bind({ id: "allow-once", ...answer("once", (button, { key }) => begin(key, () => button.click())) });
bind({ id: "allow-always", ...answer("always", (summary, { key }) => begin(key, () => {
  summary.parentElement.open = true;
  summary.parentElement.querySelector("input[type=checkbox]")?.focus();
})) });
bind({ id: "reject", ...answer("reject", (field) => field.focus()) });

const isOwn = (keys) => Object.entries(keymap).some(([id, bound]) => /^(allow|reject|answer)/.test(id) && bound.split(" ")[0] === keys && deed(id).when());

// A card may take the focus from an empty field: letters but its keys go to the message.
document.addEventListener("keydown", (event) => {
  const { ctrlKey, metaKey, altKey, key, target } = event;
  if (ctrlKey || metaKey || altKey || !/^[\p{L}\d]$/u.test(key) || isTyping(target)) return;
  if (!held && (!target.closest("[data-permission]") || isOwn(stroke(event)))) return;
  clearTimeout(timer);
  if (document.querySelector("[data-prompt]")) event.stopImmediatePropagation();
  write({ key, target: document.body }, held);
  held = "";
}, true);

function option(number) {
  const questions = [...(card()?.querySelectorAll(".question-one:not([hidden])") ?? [])];
  const open = questions.find((one) => one.contains(document.activeElement)) ?? questions.find((one) => !one.querySelector(":checked")) ?? questions[0];
  return open?.querySelectorAll(".question-choice input")[number - 1];
}

for (let number = 1; number < 10; number++)
  bind({
    id: `answer-${number}`,
    when: () => isMeant() && option(number)?.checkVisibility(),
    run: () => {
      option(number).focus();
      option(number).click();
    },
  });
