// The search in a session, by the server. A hit that is not in the page is opened by its address.
import { fetchFragment } from "./fragment.js";
import { eachPage } from "./page.js";

const DELAY_MS = 200;
let bar, input, count, list, log;
let hits = [];
let here = -1;
let timer = null;
let asked = 0;

const words = () => input.value.match(/[\p{L}\p{N}]+/gu) ?? [];
const turnOf = (hit) => document.getElementById(`turn-${hit.dataset.turn}`);
const placeOf = (hit) => document.getElementById(`prt-${hit.dataset.part}`) ?? turnOf(hit)?.querySelector(".prompt-text") ?? turnOf(hit);

// The words one after the other, or else each by itself.
function rangesIn(node) {
  const found = [];
  for (const between of ["[^\\p{L}\\p{N}]+", "|"]) {
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      for (const { 0: text, index } of walker.currentNode.data.matchAll(new RegExp(words().join(between), "giu"))) {
        const range = new Range();
        range.setStart(walker.currentNode, index);
        range.setEnd(walker.currentNode, index + text.length);
        found.push(range);
      }
    if (found.length) break;
  }
  return found;
}

// Painted over the text: the page's own elements are the server's.
function mark(ranges) {
  if (!CSS.highlights) return;
  if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
  else CSS.highlights.delete("found");
}

function tell() {
  if (!words().length) count.textContent = "";
  else if (!hits.length) count.textContent = count.dataset.none;
  else count.textContent = count.dataset.some.replace("%n", here + 1).replace("%m", hits.length + (list.querySelector("[data-more]") ? "+" : ""));
}

function show(index) {
  here = (index + hits.length) % hits.length;
  tell();
  const hit = hits[here];
  if (!turnOf(hit)) {
    const url = new URL(hit.href);
    url.searchParams.set("find", input.value);
    location.assign(url);
    return;
  }
  const place = placeOf(hit);
  for (let fold = place.querySelector(":scope > details") ?? place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const ranges = rangesIn(place);
  const [first] = ranges;
  mark(ranges);
  (first?.startContainer.parentElement ?? place).scrollIntoView({ block: "center" });
  // A paragraph may be longer than the window.
  if (first) log.scrollTop += first.getBoundingClientRect().top - innerHeight / 2;
}

function nearest() {
  const edge = log.getBoundingClientRect().top;
  const index = hits.findIndex((hit) => (placeOf(hit)?.getBoundingClientRect().bottom ?? -Infinity) > edge);
  return index < 0 ? hits.length - 1 : index;
}

async function look() {
  const turn = ++asked;
  mark([]);
  [hits, here] = [[], -1];
  if (!words().length) return tell();
  const url = new URL(bar.action);
  url.searchParams.set("q", input.value);
  const page = await fetchFragment(url);
  if (turn !== asked || !page) return;
  if (!page.ok) return location.assign(url);
  list.replaceChildren(...page.body.children);
  hits = [...list.querySelectorAll("[data-hit]")];
  const address = new URLSearchParams(location.search);
  const at = (hit) => new URL(hit.href).searchParams.get("at");
  const opened = address.get("find") === input.value ? hits.findIndex((hit) => at(hit) === address.get("at")) : -1;
  if (hits.length) show(opened < 0 ? nearest() : opened);
  else tell();
}

function close() {
  bar.hidden = true;
  mark([]);
  log.focus();
}

/** Show the search, with the words of the address at first. */
export function open() {
  if (bar.hidden) {
    bar.hidden = false;
    if (!input.value) input.value = new URLSearchParams(location.search).get("find") ?? "";
    if (input.value) look();
  }
  input.select();
}

eachPage(() => {
  mark([]);
  asked++;
  bar = document.querySelector("[data-find]");
  if (!bar) return;
  [input, count, list] = ["input", "[data-find-count]", "[data-find-list]"].map((css) => bar.querySelector(css));
  log = document.querySelector("[data-log]");
  bar.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, DELAY_MS);
  });
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    if (hits.length) show(here + 1);
  });
  bar.addEventListener("click", (event) => {
    const by = event.target.closest("[data-find-step]");
    if (event.target.closest("[data-find-close]")) close();
    else if (by && hits.length) show(here + Number(by.dataset.findStep));
  });
  bar.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.shiftKey && hits.length) show(here - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
});
