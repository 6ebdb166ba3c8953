// Texts that grow. Offsets count characters as the server does, not UTF-16 units.
const waiting = new Map();
const size = (text) => [...text].length;
const rest = (text, start) => [...text].slice(start).join("");
const find = (id) => document.querySelector(`#prt-${CSS.escape(id)}[data-length]`);

function append(part, text) {
  const tail = part.querySelector(".tail");
  if (tail.lastChild?.nodeType === Node.TEXT_NODE) tail.lastChild.appendData(text);
  else tail.append(text);
}

/** Write what has arrived. Before anything else changes the page, and once for each paint. */
export function flushText() {
  for (const [id, text] of waiting) {
    const part = find(id);
    if (part) append(part, text);
  }
  waiting.clear();
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
  if (!waiting.size) requestAnimationFrame(flushText);
  waiting.set(p, (waiting.get(p) ?? "") + fresh);
}

/** Characters `f` to `a` of part `p` are finished blocks: they leave the raw tail. */
export function closeBlocks({ p, f, a, x }) {
  flushText();
  const part = find(p);
  // A part that stands elsewhere is repaired by its last frame.
  if (!part || Number(part.dataset.closed) !== f || Number(part.dataset.length) < a) return;
  part.querySelector(".blocks").insertAdjacentHTML("beforeend", x);
  part.dataset.closed = a;
  const tail = part.querySelector(".tail");
  tail.textContent = rest(tail.textContent, a - f);
}
