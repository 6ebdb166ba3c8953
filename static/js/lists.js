// The lists of sessions. A row changes in place at once; one that belongs elsewhere has its lists read
// again, but not while somebody is about to choose.
const WAIT_MS = 400;
// After so long a pointer lies where it was left.
const REST_MS = 5000;
let usedAt = Date.now();
for (const type of ["pointermove", "keydown"]) addEventListener(type, () => (usedAt = Date.now()));
// Without a pointer, what was touched last seems to be under one.
const pointer = matchMedia("(hover: hover)");
// What stands below a list moves with it.
const AIMED = ["[data-refresh]", "a", "button", "summary", "label"].map((one) => `${one}:hover`).join();
const CHOSEN = "[data-refresh] :focus-visible:not([type=search])";
// Ids of the lists to read again: their elements may be replaced.
const due = new Set();
let timer = null;

function isHeld(list) {
  const column = list.closest("[data-rail], main");
  if (document.hidden || !column || Date.now() - usedAt > REST_MS) return false;
  return (pointer.matches && column.querySelector(AIMED)) || column.querySelector(CHOSEN);
}

// Each asks for itself: htmx drops an element's third pending request.
const fetchList = (source, more) => htmx.ajax("GET", source.dataset.refresh, { source, swap: "outerMorph", ...more });

function wait(...more) {
  more.forEach(({ id }) => due.add(id));
  timer ??= setTimeout(read, WAIT_MS);
}

async function read() {
  try {
    for (const id of [...due]) {
      const list = document.getElementById(id);
      if (list && isHeld(list)) continue;
      due.delete(id);
      if (list) await fetchList(list, { isPatient: true });
    }
  } finally {
    timer = null;
    if (due.size) wait();
  }
}

// The pointer may have come since.
document.addEventListener("htmx:after:request", (event) => {
  const { isPatient, target } = event.detail.ctx;
  if (!isPatient || !isHeld(target)) return;
  event.preventDefault();
  wait(target);
});

const lists = () => document.querySelectorAll("[data-refresh]");

/** Read all lists again, each as soon as nobody is at it. */
export const refresh = () => wait(...lists());

/** Read them again at once: the person has done something with a row. */
export async function refreshNow() {
  for (const list of lists()) await fetchList(list);
}

function isInPlace(shown, group) {
  const place = shown?.closest("[data-group]")?.dataset.group;
  return place === group || (place === "pinned" && !/^(ask|others)/.test(group)) || (group === "rest" && place && !/^(ask|others|run|queue)/.test(place));
}

// Drawn once for everybody; nobody reads their own name on theirs.
const { dataset: me } = document.body;
const ownName = new RegExp(`<span data-owner="${me.user}">[^<]*</span>`);

/** Take what the server says of one session, which `apply` draws. */
export function update({ ops, row, group, stale }, apply) {
  for (const op of ops) {
    const list = op[1] === "remove" && document.querySelector(op[0])?.closest("[data-refresh]");
    // An inbox says when it is empty.
    if (list && (isHeld(list) || list.id === "inbox")) wait(list);
    else apply([op[0], op[1], op[2].replace(ownName, "")]);
  }
  const shown = document.getElementById(`row-${row}`) ?? document.getElementById(`card-${row}`);
  const isMine = group !== "ask" || shown?.matches(`[data-answerers~="${me.role}"], [data-answerers~="${me.user}"]`);
  if (stale || (row && !isInPlace(shown, isMine ? group : "others"))) refresh();
}
