// Questions of the agent: announced on arrival, answered by keys, deaf for the first half second.
import { isIdle, place } from "./idle.js";
import { bind } from "./keys.js";
import { alertUser } from "./toast.js";
import { _ } from "./words.js";

// A key or a click on its way when the card appears was not meant for it.
const GUARD_MS = 500;
const arrived = new WeakMap();
let answered = null;
const cards = () => [...document.querySelectorAll("[data-permission]")];
const card = () => document.activeElement.closest("[data-permission]") ?? cards()[0];
const first = (selector) => [...(card()?.querySelectorAll(selector) ?? [])].find((one) => one.checkVisibility());

function isFresh(card) {
  return performance.now() - (arrived.get(card) ?? 0) < GUARD_MS;
}

function isMeant() {
  const { activeElement: focused, body } = document;
  return Boolean(card()) && !isFresh(card()) && (focused === body || card().closest(".pane, main").contains(focused));
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

/** Begin with what is there; aloud: it has come while the page was open. More comes into the dock. */
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

function answer(selector, act) {
  const run = () => first(selector) && act(first(selector));
  return { when: isMeant, run };
}

bind({ id: "allow-once", ...answer('[data-answer="once"]', (button) => button.click()) });
bind({
  id: "allow-always",
  ...answer('[data-answer="always"]', (summary) => {
    summary.parentElement.open = true;
    summary.parentElement.querySelector("input[type=checkbox]")?.focus();
  }),
});
function option(number) {
  const questions = [...(card()?.querySelectorAll(".question-one:not([hidden])") ?? [])];
  const open = questions.find((one) => one.contains(document.activeElement)) ?? questions.find((one) => !one.querySelector(":checked")) ?? questions[0];
  return open?.querySelectorAll(".question-choice input")[number - 1];
}

for (let number = 1; number < 10; number++)
  bind({
    id: `answer-${number}`,
    when: () => isMeant() && Boolean(option(number)?.checkVisibility()),
    run: () => {
      option(number).focus();
      option(number).click();
    },
  });
bind({ id: "reject", ...answer('[data-answer="reject"]', (field) => field.focus()) });
