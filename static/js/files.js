// The files pane: folders and files are fetched when they are opened, and mentioned in a message.
import { insertIntoMessage } from "./message.js";
import { load } from "./view.js";

const FILTER_MS = 200;
const pane = () => document.querySelector("[data-file-pane]");

function setAddress(file) {
  const url = new URL(location.href);
  url.searchParams.set("panel", "files");
  for (const name of ["folder", "filter"]) url.searchParams.delete(name);
  if (file) url.searchParams.set("file", file);
  else url.searchParams.delete("file");
  url.hash = "";
  history.replaceState(history.state, "", url);
}

async function openFile(link) {
  pane().querySelectorAll("[data-file][aria-current]").forEach((item) => item.removeAttribute("aria-current"));
  link.setAttribute("aria-current", "true");
  setAddress(link.dataset.file);
  pane().querySelector("[data-files-side]").dataset.behind = "";
  await load(pane().querySelector("[data-files-view]"), link.dataset.src);
  pane().querySelector(".file-code")?.focus({ preventScroll: true });
}

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

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-file-pane] a, [data-mention-file]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if ("mentionFile" in link.dataset) return insertIntoMessage(`@${link.dataset.mentionFile} `);
  if ("file" in link.dataset) openFile(link);
  else if ("folder" in link.dataset) toggleFolder(link);
  else if ("filesBack" in link.dataset) {
    delete pane().querySelector("[data-files-side]").dataset.behind;
    setAddress("");
  } else return;
  event.preventDefault();
});

let due = null;
document.addEventListener("input", (event) => {
  const field = event.target.closest("[data-files-filter]");
  if (!field) return;
  clearTimeout(due);
  due = setTimeout(() => {
    const src = `${field.dataset.filesFilter}?${new URLSearchParams({ filter: field.value })}`;
    load(pane().querySelector("[data-files-rows]"), src);
  }, FILTER_MS);
});

// A reload goes to the line of the address too.
if (/^#L\d+$/.test(location.hash)) document.querySelector(`.file-code ${location.hash}`)?.scrollIntoView({ block: "center" });
