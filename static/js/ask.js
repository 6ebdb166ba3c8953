// Questions of the agent: announced on arrival, answered by keys, deaf for the first half second.
import { bind } from "./keys.js";
import { alertUser } from "./toast.js";
import { _ } from "./words.js";

// A key or a click on its way when the card appears was not meant for it.
const GUARD_MS = 500;
const arrived = new WeakMap();
const cards = () => [...document.querySelectorAll("[data-permission]")];
const first = (selector) => [...(cards()[0]?.querySelectorAll(selector) ?? [])].find((one) => one.checkVisibility());

function isFresh(card) {
  return performance.now() - (arrived.get(card) ?? 0) < GUARD_MS;
}

function receive(card, aloud) {
  arrived.set(card, performance.now());
  if (card.querySelector("[data-steps]")) import("./ask_steps.js").then(({ begin }) => begin(card));
  // A row of a list has its card in it.
  if (aloud && !card.parentElement.closest("[data-permission]")) alertUser(_("The agent asks: {what}", { what: document.getElementById(card.getAttribute("aria-labelledby")).textContent }));
}

document.addEventListener("submit", (event) => {
  const card = event.target.closest("[data-permission]");
  if (!card || !isFresh(card)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

/** Begin with what is there; aloud: it has come while the page was open. More comes into the dock. */
export function start(dock, aloud) {
  cards().forEach((card) => receive(card, aloud));
  if (!dock) return;
  new MutationObserver(() => {
    cards().filter((card) => !arrived.has(card)).forEach((card) => receive(card, true));
  }).observe(dock, { childList: true, subtree: true });
}

// To remember nothing is no answer.
document.addEventListener("change", ({ target }) => {
  if (target.name === "pattern") target.form.querySelector("button").disabled = !target.form.querySelector("[name=pattern]:checked");
});

function answer(selector, act) {
  const run = () => first(selector) && !isFresh(cards()[0]) && act(first(selector));
  return { when: () => cards().length > 0, run };
}

bind({ id: "allow-once", ...answer('[data-answer="once"]', (button) => button.click()) });
bind({
  id: "allow-always",
  ...answer('[data-answer="always"]', (summary) => {
    summary.parentElement.open = true;
    summary.parentElement.querySelector("input[type=checkbox]")?.focus();
  }),
});
/** The n-th answer to the question that has the focus, else to the first that has none yet. */
function option(number) {
  const questions = [...(cards()[0]?.querySelectorAll(".question-one:not([hidden])") ?? [])];
  const open = questions.find((one) => one.contains(document.activeElement)) ?? questions.find((one) => !one.querySelector(":checked")) ?? questions[0];
  return open?.querySelectorAll(".question-choice input")[number - 1];
}

const choice = (id) => option(Number(id.at(-1)));
for (const id of ["answer-1", "answer-2", "answer-3", "answer-4", "answer-5", "answer-6", "answer-7", "answer-8", "answer-9"])
  bind({
    id,
    when: () => Boolean(choice(id)?.checkVisibility()),
    run: () => {
      if (isFresh(cards()[0])) return;
      choice(id).focus();
      choice(id).click();
    },
  });
bind({ id: "reject", ...answer('[data-answer="reject"]', (field) => field.focus()) });
