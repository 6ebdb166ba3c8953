// Several questions on one card are asked one after the other. Without this all of them are shown.

/** Show one question at a time, and the button that answers on the last one only. */
export function begin(card) {
  const steps = [...card.querySelectorAll(".question-one")];
  const bar = card.querySelector("[data-steps]");
  const [back, next] = bar.querySelectorAll("button");
  const submit = card.querySelector("[data-steps-end]");
  const end = steps.length - 1;
  let at = 0;

  function show() {
    steps.forEach((step, number) => (step.hidden = number !== at));
    bar.querySelector("[data-step]").textContent = bar.dataset.text.replace("%n", at + 1).replace("%m", steps.length);
    back.disabled = at === 0;
    next.hidden = at === end;
    submit.hidden = at !== end;
  }

  function go(step) {
    at = Math.min(end, Math.max(0, at + step));
    show();
    steps[at].querySelector(":checked, input")?.focus();
  }

  back.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));
  // Enter in a field goes on to the next question, and answers on the last.
  card.addEventListener("submit", (event) => {
    if (at === end || event.submitter?.name === "dismiss") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    go(1);
  }, true);
  bar.hidden = false;
  show();
}
