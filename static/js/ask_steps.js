// The questions of one card are asked one after the other. Without this all are shown.

/** Show one question at a time, and the button that answers on the last one only. */
export function begin(card) {
  const steps = [...card.querySelectorAll(".question-one")];
  const bar = card.querySelector("[data-steps]");
  const [said, back, next] = bar.children;
  const end = steps.length - 1;
  let at = 0;

  function show() {
    const open = steps.filter((step) => !step.querySelector(":checked, .input:not(:placeholder-shown)"));
    steps.forEach((step, number) => (step.hidden = number !== at));
    said.textContent = bar.dataset[at === end && open[0] ? "left" : "text"].replace("%n", at + 1).replace("%m", steps.length).replace("%o", open.length);
    back.disabled = !at;
    next.textContent = next.dataset[open.includes(steps[at]) ? "skip" : "next"];
    next.hidden = at === end;
    card.querySelector("[data-steps-end]").hidden = at !== end;
  }

  function go(step) {
    at += step;
    show();
    steps[at].querySelector(":checked, input")?.focus();
  }

  back.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));
  card.addEventListener("input", show);
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
