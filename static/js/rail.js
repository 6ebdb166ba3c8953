// The list of sessions: going through it, open or closed, and how wide.
import { arrive } from "./focus.js";
import { fetchAhead } from "./navigate.js";
import { eachPage } from "./page.js";
import { drag, save } from "./taste.js";

const [MIN, MAX, STEP, DEFAULT] = [200, 400, 20, 260];
const app = document.querySelector("[data-app]");
let list, edge;
const isMirrored = () => getComputedStyle(app).direction === "rtl";
const width = () => Number(app.dataset.railWidth ?? DEFAULT);
const keep = (values) => list.dataset.save && save(list.dataset.save, values);

/** Put the list away, or bring it back. */
export function toggle() {
  const closed = app.dataset.railState !== "closed";
  app.dataset.railState = closed ? "closed" : "open";
  keep({ closed: closed ? 1 : 0 });
}

function neighbour(step) {
  const rows = [...document.querySelectorAll("[data-session-row]")];
  const here = rows.findIndex((row) => row.ariaCurrent);
  return rows[here < 0 ? 0 : here + step];
}

/** Open the session before (-1) or after (1) the one that is shown. */
export function openNeighbour(step) {
  sessionStorage.step = step;
  neighbour(step)?.click();
}

/** Someone goes through sessions: those beside it are fetched now. */
export function lookAhead() {
  if (document.activeElement === document.body) arrive("[data-log]");
  if (+sessionStorage.step) [1, -1].map(neighbour).forEach((row) => row && fetchAhead(row.href));
  delete sessionStorage.step;
}

function widen(pixels) {
  app.dataset.railWidth = Math.min(MAX, Math.max(MIN, Math.round(pixels / STEP) * STEP));
  tellWidth();
}

function tellWidth() {
  edge.ariaValueNow = width();
  edge.ariaValueText = `${width()} px`;
}
eachPage(() => {
  list = app.querySelector("[data-rail]");
  edge = app.querySelector("[data-rail-edge]");
  if (!edge) return;
  tellWidth();
  edge.addEventListener("pointerdown", (event) => {
    const [from, { left, right }] = [width(), app.getBoundingClientRect()];
    drag(event, ({ clientX }) => widen(isMirrored() ? right - clientX : clientX - left), () => width() !== from && keep({ width: width() }));
  });
  edge.addEventListener("dblclick", () => {
    widen(DEFAULT);
    keep({ width: width() });
  });
  edge.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    widen(width() + (isMirrored() ? -step : step));
    keep({ width: width() });
  });
});
