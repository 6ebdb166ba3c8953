// Questions of the agent: announced on arrival, answered by keys, deaf for the first half second.
import { bind } from "./keys.js";
import { alertUser } from "./notify.js";

// A key or a click on its way when the card appears was not meant for it.
const GUARD_MS = 500;
const arrived = new WeakMap();
const cards = () => [...document.querySelectorAll("[data-permission]")];
const first = (selector) => cards()[0]?.querySelector(selector);

function isFresh(card) {
  return performance.now() - (arrived.get(card) ?? 0) < GUARD_MS;
}

function receive(card, { aloud }) {
  arrived.set(card, performance.now());
  if (aloud) alertUser(`The agent asks: ${card.querySelector("h2").textContent}`);
}

document.addEventListener("submit", (event) => {
  const card = event.target.closest("[data-permission]");
  if (!card || !isFresh(card)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

const dock = document.querySelector("[data-permissions]");
if (dock) {
  cards().forEach((card) => receive(card, { aloud: false }));
  new MutationObserver(() => {
    cards().filter((card) => !arrived.has(card)).forEach((card) => receive(card, { aloud: true }));
  }).observe(dock, { childList: true });
}

// To remember nothing is no answer.
document.addEventListener("change", ({ target }) => {
  if (target.name === "pattern") target.form.querySelector("button").disabled = !target.form.querySelector(":checked");
});

function answer(selector, act) {
  const run = () => first(selector)?.checkVisibility() && !isFresh(cards()[0]) && act(first(selector));
  return { when: () => Boolean(dock), run };
}

bind({ key: "y", label: "Allow once", ...answer('[data-answer="once"]', (button) => button.click()) });
bind({
  key: "Y",
  label: "Always allow: choose what",
  ...answer('[data-answer="always"]', (summary) => {
    summary.parentElement.open = true;
    summary.parentElement.querySelector("input[type=checkbox]")?.focus();
  }),
});
bind({ key: "x", label: "Tell the agent what to do instead", ...answer('[data-answer="reject"]', (field) => field.focus()) });
