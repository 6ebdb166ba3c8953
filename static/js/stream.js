// Texts that grow. Offsets count characters as the server does, not UTF-16 units.
import { settle } from "./window.js";
const waiting = new Map();
// A paint lays the page out, so what follows soon waits for more.
const PAINT_MS = 125;
let paintedAt = 0;
let timer = null;
const size = (text) => [...text].length;
const rest = (text, start) => [...text].slice(start).join("");
const find = (id) => document.querySelector(`#prt-${CSS.escape(id)}[data-length]`);

function append(part, text) {
  const tail = part.querySelector(".tail");
  if (tail.lastChild?.nodeType === Node.TEXT_NODE) tail.lastChild.appendData(text);
  else tail.append(text);
}

function close(part, { f, a, x }) {
  // A part that stands elsewhere is repaired by its last frame.
  if (Number(part.dataset.closed) !== f || Number(part.dataset.length) < a) return;
  part.querySelector(".blocks").insertAdjacentHTML("beforeend", x);
  part.dataset.closed = a;
  const tail = part.querySelector(".tail");
  tail.textContent = rest(tail.textContent, a - f);
}

/** Write what has arrived. Before anything else changes the page. */
export function flushText() {
  for (const [id, { text, blocks }] of waiting) {
    const part = find(id);
    if (!part) continue;
    append(part, text);
    blocks.forEach((frame) => close(part, frame));
  }
  waiting.clear();
}

function paint() {
  timer = null;
  paintedAt = performance.now();
  flushText();
  // Before the frame begins: what scrolls in a frame costs a second one.
  settle();
}

function changes(id) {
  timer ??= setTimeout(paint, PAINT_MS + paintedAt - performance.now());
  if (!waiting.has(id)) waiting.set(id, { text: "", blocks: [] });
  return waiting.get(id);
}

/** The text `x` of part `p` begins at character `a`: what is known is skipped, a gap is asked for. */
export function growText({ p, a, x }) {
  const part = find(p);
  if (!part) return;
  const known = Number(part.dataset.length);
  if (a > known) return import("./missing.js").then(({ ask }) => ask(part, flushText));
  const fresh = a === known ? x : rest(x, known - a);
  if (!fresh) return;
  part.dataset.length = known + size(fresh);
  changes(p).text += fresh;
}

/** Characters `f` to `a` of part `p` are finished blocks: they leave the raw tail. */
export const closeBlocks = (frame) => changes(frame.p).blocks.push(frame);
