// Rows of a conversation: Back and Forward restore them and the turn that was read; the end of a
// command's output is in view; blocks of code can be copied.
import { eachPage, isCurrent, onLeave } from "./page.js";

const NEAR_PX = 24;
const SAVE_MS = 300;
const ROWS = "[data-fold], [data-thinks]";
// `left` is what the browser's history has of this visit: {open: ids, turn, offset}.
let log, left, copyButton;
let timer = null;

function offerCopies() {
  for (const block of log.querySelectorAll(":is(.prose pre, .default-output, .read > .diff:has(td)):not(:has(> .copy-block))")) block.prepend(copyButton.cloneNode(true));
}

const outputsIn = (root) => root.querySelectorAll("[data-tool=bash][open] .bash-output");
const toEnd = (output) => (output.scrollTop = output.scrollHeight);

function save() {
  timer = clearTimeout(timer);
  if (!isCurrent()) return;
  const open = [...log.querySelectorAll(ROWS)].filter((row) => row.open).map((row) => row.id);
  const isPast = !document.querySelector("[data-jump]").hidden;
  const edge = isPast && log.getBoundingClientRect().top;
  const turn = isPast && [...log.querySelectorAll("[data-turn]")].find((one) => one.getBoundingClientRect().bottom > edge);
  const rows = { open, turn: turn?.id, offset: turn ? edge - turn.getBoundingClientRect().top : 0 };
  if (JSON.stringify(rows) !== JSON.stringify(history.state?.rows)) history.replaceState({ ...history.state, rows }, "");
}
const saveSoon = () => (timer ??= setTimeout(save, SAVE_MS));

function openAgain(root) {
  for (const row of root.querySelectorAll(ROWS)) row.open ||= left.open.includes(row.id);
}

/** Scroll to a turn, and go on from there with the keys. */
export function goTo(turn) {
  turn.tabIndex = -1;
  turn.scrollIntoView();
  turn.focus({ preventScroll: true });
}

function keepUp(changes) {
  const outputs = new Set(changes.map(({ target }) => (target.closest ? target : target.parentElement)?.closest(".bash-output")));
  outputs.forEach((output) => output && !output.isRead && toEnd(output));
  // Text that grows brings no block of its own.
  const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.matches);
  if (added.length) offerCopies();
  if (left) added.forEach((node) => node.matches("[data-turn]") && openAgain(node));
}

onLeave(() => timer && save());
eachPage(() => {
  log = document.querySelector("[data-log]");
  if (!log) return;
  left = history.state?.rows;
  copyButton = document.querySelector("[data-copy-block]").content.firstElementChild;
  log.addEventListener("toggle", ({ target }) => {
    if (target.open) outputsIn(target).forEach(toEnd);
    saveSoon();
  }, true);
  log.addEventListener("scroll", ({ target }) => {
    if (target === log) saveSoon();
    // Somebody reads what came before: it stays where it is.
    else if (target.matches(".bash-output")) target.isRead = target.scrollHeight - target.scrollTop - target.clientHeight > NEAR_PX;
  }, { capture: true, passive: true });
  new MutationObserver(keepUp).observe(log, { childList: true, characterData: true, subtree: true });
  const asked = document.getElementById(location.hash.slice(1) || log.dataset.at);
  if (log.contains(asked)) goTo(asked);
  if (left) {
    openAgain(log);
    const turn = document.getElementById(left.turn);
    if (turn) log.scrollTop += turn.getBoundingClientRect().top - log.getBoundingClientRect().top + left.offset;
  }
  outputsIn(log).forEach(toEnd);
  offerCopies();
  if ("awaitsChanges" in document.querySelector("[data-workspace]").dataset) import("./panel.js");
});
