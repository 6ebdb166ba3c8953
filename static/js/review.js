// The changes pane: diffs load when their file is in view, and keys go from file to file.
import { fetchFragment } from "./fragment.js";
import { bind } from "./keys.js";
import { eachPage, isCurrent } from "./page.js";
import { open } from "./review_comment.js";
import { load } from "./view.js";

const REFRESH_MS = 300;
let view, workspace;
// Two columns of code need room, in pixels.
const SPLIT_WIDTH = 900;
let narrow;
const pane = () => document.getElementById("changes");
const area = () => view.querySelector("[data-diffs]");
const keyOf = (body) => `${body.dataset.stamp}${narrow}`;

const seen = new IntersectionObserver((entries) => {
  entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => draw(target));
});

async function draw(body) {
  seen.unobserve(body);
  // Nothing that somebody writes is lost: it is drawn anew afterwards.
  const isWritten = [...body.querySelectorAll("textarea")].some((field) => field.value !== field.defaultValue);
  if (body.shown === keyOf(body) || isWritten) return;
  body.shown = keyOf(body);
  const line = linesIn(body).indexOf(document.activeElement);
  await load(body, `${body.dataset.diff}${narrow ? "&narrow=1" : ""}`);
  // Whoever works from the keyboard goes on where they were.
  const same = linesIn(body)[line];
  if (same && document.activeElement === document.body) focusRow(same, null);
}

const linesIn = (part) => [...part.querySelectorAll("[data-line]")];

function settle() {
  const { address } = pane()?.dataset ?? {};
  if (!address || !isCurrent()) return;
  if (new URL(location.href).searchParams.get("panel") === "changes") {
    const url = new URL(address, location.href);
    url.hash = location.hash;
    if ("full" in workspace.dataset) url.searchParams.set("full", "1");
    if (url.href !== location.href) history.replaceState(history.state, "", url);
  }
  for (const body of view.querySelectorAll("[data-diff]")) {
    if ("drawn" in body.dataset && !body.shown) body.shown = keyOf(body);
    if (body.shown !== keyOf(body)) seen.observe(body);
  }
}

let due = null;
/** Read the pane again. Its source, place and what is open stay. */
export function refresh() {
  clearTimeout(due);
  due = setTimeout(async () => {
    const { address } = pane()?.dataset ?? {};
    if (!address) return;
    const page = await fetchFragment(address);
    // The next change tries again; what is there stays until then.
    if (!page?.ok || pane()?.dataset.address !== address) return;
    await htmx.swap({ target: pane(), text: page.text, swap: "outerMorph", sourceElement: view });
    // A mark that was taken away goes from boxes that were clicked, too.
    view.querySelectorAll("[data-viewed]").forEach((box) => (box.checked = box.defaultChecked));
    settle();
    view.querySelectorAll("[data-rows][open]").forEach(openFolder);
  }, REFRESH_MS);
}

function openFolder(folder) {
  const children = folder.querySelector("[data-children]");
  if (folder.open) load(children, folder.dataset.rows);
}

function goTo(card) {
  card.scrollIntoView({ block: "start" });
  card.querySelector("[data-file-fold] > summary").focus({ preventScroll: true });
}

function foldFiles() {
  const folds = [...view.querySelectorAll("[data-file-fold]")];
  const open = !folds.some((fold) => fold.open);
  folds.forEach((fold) => (fold.open = open));
}

// In the full window nothing else is there that keys could be for.
const isFull = () => "full" in workspace.dataset;
const isHere = () => pane()?.checkVisibility() && (isFull() || view.contains(document.activeElement));
const top = () => area().getBoundingClientRect().top;
const cards = () => [...view.querySelectorAll("[data-file-card]")];

function currentCard() {
  const focused = document.activeElement.closest("[data-file-card]");
  return focused ?? cards().findLast((card) => card.getBoundingClientRect().top <= top() + 1);
}

async function stepFile(step) {
  const list = cards();
  const next = list[list.indexOf(currentCard()) + step];
  if (next) return goTo(next);
  const link = view.querySelector(step > 0 ? "[data-files-after]" : "[data-files-before]");
  if (!link) return;
  await load(view, link.href);
  const card = cards().at(step > 0 ? 0 : -1);
  if (card) goTo(card);
}

const isChange = (row) => row?.matches("[data-line]") && row.querySelector(".diff-sign:not(:empty)");

function stepHunk(step) {
  const head = 40;
  const starts = linesIn(view).filter((row) => row.checkVisibility() && isChange(row) && !isChange(row.previousElementSibling));
  const from = document.activeElement.closest("tr, [data-file-card]");
  const middle = from?.getBoundingClientRect().top ?? top() + head;
  const beyond = (row) => (row.getBoundingClientRect().top - middle) * step > 1;
  const row = step > 0 ? starts.find(beyond) : starts.findLast(beyond);
  if (!row) return stepFile(step);
  focusRow(row, "center");
}

function focusRow(row, block = "nearest") {
  row.setAttribute("tabindex", row.tabIndex);
  if (block) row.scrollIntoView({ block });
  row.focus({ preventScroll: true });
}

// Arrows stop at these.
const STOPS = "[data-line], [data-file-fold] > summary";

function numbersOf(row) {
  const [old, next] = row.querySelectorAll(".diff-number");
  return { old: Number(old.textContent), new: Number(next.textContent) };
}

function pick(rows) {
  view.querySelectorAll("[data-picked]").forEach((row) => delete row.dataset.picked);
  rows.forEach((row) => (row.dataset.picked = ""));
}

const writeAbout = (rows, side) => open(rows, side, { numbersOf, pick, view });

function between(one, other) {
  const rows = linesIn(one.closest("table"));
  const [from, to] = [rows.indexOf(one), rows.indexOf(other)].sort((a, b) => a - b);
  return rows.slice(from, to + 1);
}

const mayComment = () => document.body.dataset.role !== "viewer";

let anchor = null;

const change = (name) => view.querySelector(`.changes-look [name="${name}"]:not(.segment[aria-pressed="true"])`)?.click();
const keys = {
  "next-file": () => stepFile(1),
  "previous-file": () => stepFile(-1),
  "next-change": () => stepHunk(1),
  "previous-change": () => stepHunk(-1),
  columns: () => change("split"),
  wrap: () => change("wrap"),
  tree: () => change("tree"),
  "fold-files": foldFiles,
  viewed: () => currentCard()?.querySelector("[data-viewed]").click(),
};
for (const [id, run] of Object.entries(keys)) bind({ id, scoped: true, when: isHere, run });
function currentHunk() {
  const rows = [...(document.activeElement.closest("table")?.querySelectorAll("[data-hunk], [data-line]") ?? [])];
  const at = rows.indexOf(document.activeElement.closest("[data-hunk], [data-line]"));
  return rows.slice(0, at + 1).findLast((row) => row.matches("[data-hunk]"));
}

function comment() {
  const row = document.activeElement;
  if (!row.matches("[data-line]")) {
    // On a file's head it is about the first change.
    currentCard()?.querySelector("[data-file-fold]").setAttribute("open", "");
    return (currentHunk() ?? currentCard())?.querySelector("[data-hunk-comment]")?.click();
  }
  const picked = [...view.querySelectorAll("[data-picked]")];
  const rows = picked.length ? picked : [row];
  writeAbout(rows, ["new", "old"].find((side) => rows.every((one) => numbersOf(one)[side])) ?? "new");
}

const onHunk = (selector) => ({
  scoped: true,
  when: () => isHere() && mayComment() && (isFull() ? view : currentHunk())?.querySelector(selector),
  run: () => currentHunk()?.querySelector(selector)?.click(),
});
bind({ id: "stage-change", ...onHunk("[data-hunk-stage]") });
bind({ id: "revert-change", ...onHunk("[data-hunk-revert]") });
bind({ id: "comment", scoped: true, when: () => isHere() && mayComment(), run: comment });

eachPage(() => {
  view = document.querySelector('[data-panel-view="changes"]');
  if (!view) return;
  workspace = view.closest("[data-workspace]");
  narrow = true;
  anchor = null;
  seen.disconnect();
  new MutationObserver(settle).observe(view, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-stamp", "data-address"] });
  new ResizeObserver(([{ contentRect }]) => {
    if (!contentRect.width || contentRect.width < SPLIT_WIDTH === narrow) return;
    narrow = !narrow;
    view.toggleAttribute("data-narrow", narrow);
    settle();
  }).observe(view);
  view.toggleAttribute("data-narrow", narrow);
  view.addEventListener("toggle", ({ target }) => target.matches("[data-rows]") && !target.shown && (target.shown = true) && openFolder(target), true);
  view.addEventListener("click", async (event) => {
    if (event.target.closest("[data-fold-files]")) foldFiles();
    const link = event.target.closest("[data-file-link]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const id = link.hash.slice(1);
    if (!document.getElementById(id)) await load(view, link.href.replace(/#.*/, ""));
    const card = document.getElementById(id);
    if (card) goTo(card);
  });
  view.addEventListener("input", ({ target }) => {
    if (target.matches("[data-picture-slider]")) target.closest(".picture-overlay").style.setProperty("--picture-split", `${target.value}%`);
  });
  view.addEventListener("keydown", (event) => {
    const row = event.target;
    const step = { ArrowDown: 1, ArrowUp: -1, Enter: 0 }[event.key];
    if (step === undefined || !row.matches(step ? STOPS : "[data-line]")) return;
    event.preventDefault();
    if (!step) return mayComment() && comment();
    const stops = [...view.querySelectorAll(STOPS)].filter((one) => one.checkVisibility());
    const next = stops[stops.indexOf(row) + step];
    const table = next?.closest("table");
    if (!next || (event.shiftKey && (!table || table !== row.closest("table")))) return;
    if (!event.shiftKey) anchor = next;
    else if (!row.matches("[data-picked]")) anchor = row;
    pick(event.shiftKey ? between(anchor, next) : []);
    focusRow(next);
  });
  view.addEventListener("change", ({ target }) => {
    if (target.matches("[data-viewed]")) target.closest("[data-file-card]").querySelector("[data-file-fold]").open = !target.checked;
  });
  // After a form of the review the pane is read again, with what was kept.
  view.addEventListener("htmx:after:request", ({ target, detail }) => {
    const { response } = detail.ctx;
    target.closest(".file-revert")?.removeAttribute("open");
    if (!target.closest("[data-review-form]")) return;
    if (!response || response.status >= 400) return refresh();
    const row = target.closest("[data-comment-row]");
    if (row) focusRow(row.previousElementSibling);
    row?.remove();
    target.querySelectorAll("textarea").forEach((field) => (field.defaultValue = field.value));
    refresh();
  });
  view.addEventListener("click", (event) => {
    // A finger taps the whole line, and then another one to go on to there.
    const isTap = event.pointerType === "touch" && !event.target.closest("a, button");
    const cell = event.target.closest(isTap ? "[data-line] > td" : ".diff-number");
    const row = cell?.closest("[data-line]");
    const isEmpty = !cell?.textContent && row?.closest(".diff-split");
    if (!row || isEmpty || !mayComment()) return;
    const goesOn = (event.shiftKey || (isTap && view.querySelector("[data-comment-row]"))) && anchor?.closest("table") === row.closest("table");
    if (!goesOn) anchor = row;
    const isOld = !numbersOf(row).new || (cell.cellIndex < 3 && row.closest(".diff-split"));
    writeAbout(between(anchor, row), isOld ? "old" : "new");
  });
  view.addEventListener("click", ({ target }) => {
    const head = target.closest("[data-hunk-comment]")?.closest("[data-hunk]");
    if (!head) return;
    const rows = [...head.closest("table").querySelectorAll("[data-hunk], [data-line]")];
    const after = rows.slice(rows.indexOf(head) + 1);
    const end = after.findIndex((row) => row.matches("[data-hunk]"));
    const changed = (end < 0 ? after : after.slice(0, end)).filter(isChange);
    writeAbout(between(changed[0], changed.at(-1)), changed.some((row) => numbersOf(row).new) ? "new" : "old");
  });
  settle();
});
