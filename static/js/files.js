// The files pane: folders and files load when opened, to read and to mention.
import { bind } from "./keys.js";
import { insertIntoMessage } from "./message.js";
import { eachPage } from "./page.js";
import { push } from "./trail.js";
import { load, mayReplace } from "./view.js";

const FILTER_MS = 200;
const pane = () => document.querySelector("[data-file-pane]");
const place = () => pane().querySelector("[data-files-view]");

function setAddress(file) {
  const url = new URL(location.href);
  url.searchParams.set("panel", "files");
  for (const name of ["folder", "filter"]) url.searchParams.delete(name);
  if (file) url.searchParams.set("file", file);
  else url.searchParams.delete("file");
  url.hash = "";
  push(url, "files");
}

async function openFile(link) {
  if ("discards" in link.dataset) pane().querySelector("[data-unsaved]")?.removeAttribute("data-unsaved");
  if (!mayReplace(place())) return;
  for (const item of pane().querySelectorAll("[data-files-rows] [data-file]"))
    item.ariaCurrent = item.dataset.file === link.dataset.file ? "true" : null;
  setAddress(link.dataset.file);
  pane().querySelector("[data-files-side]").dataset.behind = "";
  await load(place(), link.dataset.src);
  pane().querySelector(".file-code")?.focus({ preventScroll: true });
}

async function openEditor(link, options) {
  const line = Number.parseInt(place().querySelector("[data-lines]")?.dataset.lines, 10);
  await load(place(), link.href);
  const form = place().querySelector("[data-file-edit]");
  if (form) (await import("./editor.js")).edit(form, { line, ...options });
}

// The editor searches the whole file.
const editable = () => place().querySelector("[data-edit-file], [data-edit-find]");
function findInFile() {
  const control = editable();
  if ("editFile" in control.dataset) openEditor(control, { search: true });
  else control.click();
}
bind({ id: "find-in-file", scoped: true, when: () => pane()?.contains(document.activeElement) && editable()?.checkVisibility(), run: findInFile });

let picked = [];
function pick(first, last = first) {
  unpick();
  const table = place().querySelector(".file-code");
  picked = [];
  for (let number = Math.min(first, last); number <= Math.max(first, last); number++) picked.push(table.querySelector(`#L${number}`));
  picked.forEach((row) => row.setAttribute("data-picked", ""));
  table.parentElement.dataset.lines = [...new Set([picked.at(0), picked.at(-1)])].map((row) => row.id.slice(1)).join("-");
}
function unpick() {
  picked.forEach((row) => row.removeAttribute("data-picked"));
  delete place().querySelector(".file-view").dataset.lines;
}
const rowOf = (node) => (node.closest ? node : node.parentElement)?.closest(".file-code tr[id]");
const numberOf = (row) => Number(row.id.slice(1));

document.addEventListener("selectionchange", () => {
  if (!pane()) return;
  const { isCollapsed, anchorNode, focusNode } = getSelection();
  const rows = isCollapsed ? [] : [anchorNode, focusNode].map(rowOf);
  if (rows[0] && rows[1]) pick(...rows.map(numberOf));
});
addEventListener("mousedown", (event) => event.shiftKey && event.target.closest(".file-code [data-line]") && event.preventDefault());
addEventListener("click", (event) => {
  const row = rowOf(event.target);
  if (!row || event.ctrlKey || event.metaKey) return;
  if (!event.target.closest("[data-line]")) return getSelection().isCollapsed && unpick();
  if (event.shiftKey) event.preventDefault();
  pick(event.shiftKey && picked[0]?.isConnected ? numberOf(picked[0]) : numberOf(row), numberOf(row));
});

function toggleFolder(link) {
  const open = link.ariaExpanded !== "true";
  link.ariaExpanded = open;
  let below = link.parentElement.querySelector(":scope > [data-children]");
  if (below) return (below.hidden = !open);
  below = document.createElement("div");
  below.dataset.children = "";
  link.after(below);
  load(below, link.dataset.src);
}

addEventListener("click", (event) => {
  const link = event.target.closest("[data-file-pane] a, [data-mention-file]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if ("mentionFile" in link.dataset) {
    const lines = link.closest("[data-lines]")?.dataset.lines;
    return insertIntoMessage(`@${link.dataset.mentionFile}${lines ? `#L${lines}` : ""} `);
  }
  if ("editFile" in link.dataset) openEditor(link);
  else if ("file" in link.dataset) openFile(link);
  else if ("folder" in link.dataset) toggleFolder(link);
  else if ("filesBack" in link.dataset) {
    delete pane().querySelector("[data-files-side]").dataset.behind;
    setAddress("");
  } else return;
  event.preventDefault();
});

const rows = () => pane().querySelector("[data-files-rows]");
const isFilter = ({ target }) => target.matches("[data-files-filter]");
let due, found;
function look({ target: { dataset, value } }) {
  due = clearTimeout(due);
  return (found = load(rows(), `${dataset.filesFilter}?${new URLSearchParams({ filter: value })}`));
}
addEventListener("input", (event) => {
  if (!isFilter(event)) return;
  clearTimeout(due);
  due = setTimeout(look, FILTER_MS, event);
});
document.addEventListener("keydown", async (event) => {
  if (!isFilter(event) || !/^(Enter|ArrowDown)$/.test(event.key)) return;
  event.preventDefault();
  await (due ? look(event) : found);
  if (event.key === "ArrowDown") rows().querySelector("a")?.focus();
  else rows().querySelector("[data-file]")?.click();
});

// A reload goes to the line of the address too.
eachPage(() => {
  const linked = /^#L\d+$/.test(location.hash) && document.querySelector(`.file-code ${location.hash}`);
  if (!linked) return;
  linked.scrollIntoView({ block: "center" });
  pick(numberOf(linked));
});
