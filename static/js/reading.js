// Reading a conversation: which message the answer in view belongs to, from turn to turn, all rows of
// a turn at once, thinking folded or not, and the search in it.
import { bind } from "./keys.js";
import { eachPage } from "./page.js";
import "./queue.js";
import { goTo } from "./rows.js";
import { save } from "./taste.js";

const EDGE_PX = 48;
let log, head;
const turns = () => [...log.querySelectorAll("[data-turn]")];
const top = () => log.getBoundingClientRect().top;
let read = null;

function current() {
  const all = turns();
  const edge = top() + EDGE_PX;
  return all.findLast((turn) => turn.getBoundingClientRect().top <= edge) ?? all[0];
}

// The prompt of the turn in view stays on top while it is out of sight itself.
function showPrompt() {
  const turn = current();
  const prompt = turn?.querySelector(".prompt");
  const isOut = prompt && prompt.getBoundingClientRect().bottom < top() + 8 && turn.getBoundingClientRect().bottom > top() + EDGE_PX;
  if (head.hidden === Boolean(isOut)) head.hidden = !isOut;
  if (!isOut || read === turn) return;
  read = turn;
  const [author, text] = ["author", "text"].map((name) => prompt.querySelector(`.prompt-${name}`).textContent.trim());
  head.textContent = `${author}: ${text.slice(0, 200)}`;
}

function step(by) {
  const all = turns();
  // At the end of the log several are in view.
  const focused = document.activeElement.closest("[data-turn]");
  const here = all.indexOf(focused && heightInView(focused) > 0 ? focused : current());
  const isWithin = here >= 0 && all[here].getBoundingClientRect().top < top() - 1;
  const next = all[by < 0 && isWithin ? here : here + by];
  if (next) goTo(next);
  else if (by > 0) log.scrollTop = log.scrollHeight;
}

const heightInView = (node) => {
  const [box, view] = [node.getBoundingClientRect(), log.getBoundingClientRect()];
  return Math.min(box.bottom, view.bottom) - Math.max(box.top, view.top);
};

/** Open all rows of the turn that is read; when all are open, fold them. */
function fold() {
  const focused = document.activeElement?.closest("[data-turn]");
  const turn = focused ?? turns().sort((one, other) => heightInView(other) - heightInView(one))[0];
  const rows = [...(turn?.querySelectorAll("[data-fold]") ?? [])];
  const open = rows.some((row) => !row.open);
  rows.forEach((row) => (row.open = open));
}

// What models think is unfolded where its reader wants it, also while it comes.
const unfold = (root) => root.querySelectorAll("[data-thinks]:not([open])").forEach((part) => (part.open = true));
const wantsThinking = () => document.body.dataset.thinking === "open";
function unfoldNew(changes) {
  if (wantsThinking()) changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => {
    if (node.matches?.("[data-thinks]")) node.open = true;
    else if (node.querySelectorAll) unfold(node);
  }));
}

addEventListener("submit", (event) => {
  if (!event.target.matches("[data-thinking-form]")) return;
  event.preventDefault();
  const open = !wantsThinking();
  document.body.dataset.thinking = open ? "open" : "folded";
  event.target.querySelector("button").setAttribute("aria-pressed", open);
  log.querySelectorAll("[data-thinks]").forEach((part) => (part.open = open));
  save(event.target.action, { thinking: open ? 1 : 0 });
});

const find = async () => (await import("./find.js")).open();
addEventListener("click", (event) => {
  if (!event.target.closest("[data-find-open]")) return;
  event.preventDefault();
  event.target.closest("[data-menu]").open = false;
  find();
});
// The last turn has these when it has ended.
const last = (selector) => [...(log?.querySelectorAll(`.turn-acts ${selector}`) ?? [])].at(-1);
const canRollBack = () => last("[data-row-menu]") && document.body.dataset.role !== "viewer";
bind({ id: "undo", when: canRollBack, run: async () => (await import("./row_menu.js")).open(last("[data-row-menu]"), "turn-roll-back") });
bind({ id: "copy-answer", when: () => last("[data-copy-from]"), run: () => last("[data-copy-from]").click() });
const isShown = () => log;
bind({ id: "fold", when: isShown, run: fold });
bind({ id: "previous-turn", when: isShown, run: () => step(-1) });
bind({ id: "next-turn", when: isShown, run: () => step(1) });
// The page has a part of the history: the browser's own search comes with the second press.
bind({ id: "find", when: () => log && !document.activeElement?.closest("[data-find]"), run: find });

eachPage(() => {
  log = document.querySelector("[data-log]");
  if (!log) return;
  head = log.querySelector("[data-turn-now]");
  // Heard once for each paint. To wait for the next frame here would make one.
  log.addEventListener("scroll", showPrompt, { passive: true });
  head.addEventListener("click", () => goTo(read));
  new MutationObserver(unfoldNew).observe(log, { childList: true, subtree: true });
  if (wantsThinking()) unfold(log);
  showPrompt();
  if (new URLSearchParams(location.search).has("find")) find();
});
