// The line to the server: opened again when it breaks, over plain HTTP where websockets are cut.
import "./lazy.js";
import { announce, refreshBadge } from "./notify.js";
import { hide, show, words } from "./notices.js";
import { eachPage } from "./page.js";
import { openPlain } from "./plain.js";

const CHIP_MS = 2000;
const BANNER_MS = 6000;
const SILENCE_MS = 35000;
// After so many lines that broke sooner the other way is tried.
const BRIEF_MS = 10000;
const MOST_FAILURES = 3;
const RETURN_MS = 60000;
const MOST_RETURN_MS = 600000;
const AGAIN = 4000;
const SEEN_MS = 15000;
const TYPING_MS = 4000;
const QUIET_MS = 30000;
const STUCK_MS = 600000;
// Lists of a page that was prefetched or kept lack what happened since.
const OLD_S = 15;
const REFUSED_MS = 5000;
const FINAL = { 4401: "signed-out", 4403: "removed", 4404: "gone" };
const { body } = document;
let state = "";
let page = null;
let failures = 0;
let attempts = 0;
let openedAt = 0;
let lostAt = 0;
let lostCursor = 0;
let retryAt = 0;
let retryTimer = null;
let probe = null;
let probeAt = 0;
let probeWait = RETURN_MS;
let hiddenAt = 0;
let seenAt = 0;
let typedAt = 0;
let isOver = false;

function beSeen(word = "seen") {
  if (document.hidden || page.source?.readyState !== WebSocket.OPEN) return;
  page.source.send(word);
  seenAt = Date.now();
}

function beHeard({ target }) {
  if (!target.matches("[data-prompt]") || Date.now() - typedAt < TYPING_MS) return;
  typedAt = Date.now();
  beSeen("typing");
}

function watchSession(now) {
  const note = document.querySelector("[data-quiet]");
  if (!note) return;
  const time = note.querySelector("time");
  const active = Math.max(page.activeAt, Date.parse(time.dateTime));
  const isActive = now - active < QUIET_MS;
  // A write has browsers look at the styles of the whole page.
  if (isActive && note.hidden) return;
  time.dateTime = new Date(active).toISOString();
  note.hidden = isActive;
  // The text, and the spinner before it.
  for (const other of [...note.parentElement.children].slice(0, -1)) other.hidden = !isActive;
  note.querySelector("[data-stuck]").hidden = now - active < STUCK_MS;
}

function say(now = state) {
  const chip = document.querySelector("[data-live]");
  state = now;
  chip.hidden = false;
  // The page shows the last known state: styles and clocks ask for this.
  body.toggleAttribute("data-lost", !["live", "plain"].includes(state));
  if (chip.dataset.state === state) return;
  chip.dataset.state = state;
  chip.textContent = words(`chip-${state}`);
  chip.title = state === "plain" ? words("plain") : "";
}

function takeRole(role) {
  if (role === body.dataset.role) return;
  body.dataset.role = role;
  refreshBadge();
  page.refreshLists();
  announce(words(role === "viewer" ? "role-viewer" : "role"));
}

function welcomeBack() {
  const missed = page.cursor - lostCursor;
  const text = words(missed > 1 ? "back" : `back-${missed}`, missed);
  announce(text);
  if (Date.now() - lostAt > BANNER_MS) import("./toast.js").then(({ toast }) => toast(text));
  page.refreshLists();
}

/** The line stands: the server has greeted. */
export function greeted(source, { build, role, at }) {
  if (source === probe) {
    [probe, page.source] = [null, page.source.close() ?? source];
    probeAt = failures = 0;
  }
  if (source.isPlain && !probeAt) [probeAt, probeWait] = [Date.now() + RETURN_MS, RETURN_MS];
  say(source.isPlain ? "plain" : "live");
  hide("lost");
  document.querySelector('[data-kind="lost"]')?.remove();
  if (lostAt) welcomeBack();
  else if (at - document.querySelector("main").dataset.made > OLD_S) page.refreshLists();
  attempts = lostAt = 0;
  openedAt = Date.now();
  if (build !== document.documentElement.dataset.build) show("build");
  takeRole(role);
  beSeen();
}

function end(why) {
  isOver = true;
  clearTimeout(retryTimer);
  say(why);
  show(why, { final: true });
  announce(words(why));
  if (why !== "signed-out") document.querySelectorAll("[data-needs] button").forEach((button) => (button.disabled = true));
}

export function told({ k, role }) {
  if (k === "role") takeRole(role);
  else end("deleted");
}

/** The line has broken, with this reason. */
export function closed(source, code) {
  if (source === probe) probe = null;
  if (source !== page.source) return;
  page.source = null;
  if (isOver) return;
  if (FINAL[code]) return end(FINAL[code]);
  if (code === AGAIN) return connect();
  if (!lostAt) [lostAt, lostCursor] = [Date.now(), page.cursor];
  const isBrief = !openedAt || Date.now() - openedAt < BRIEF_MS;
  failures = openedAt && source.isPlain ? MOST_FAILURES : isBrief ? failures + 1 : 1;
  openedAt = probeAt = 0;
  const wait = Math.min(500 * 2 ** attempts++, 5000) * (0.75 + Math.random() / 2);
  retryAt = Date.now() + wait;
  retryTimer = setTimeout(connect, wait);
}

function connect() {
  clearTimeout(retryTimer);
  if (page.source || isOver) return;
  // Every other time only: both fail while the server is away.
  const isPlain = failures >= MOST_FAILURES && failures % 2;
  page.heardAt = Date.now();
  page.source = isPlain ? openPlain(page.plain(), page) : page.open();
}

function drop() {
  const { source } = page;
  source?.close();
  // A socket without a network tells of its end much later.
  if (source) closed(source, 0);
}

function tryReturn() {
  if (!probeAt || probe) return;
  probeWait = Math.min(probeWait * 2, MOST_RETURN_MS);
  probeAt = Date.now() + probeWait;
  probe = page.open();
}

/** Browsers have six connections to a server: hidden pages hold none for long. */
function rest(now) {
  hiddenAt = document.hidden ? hiddenAt || now : 0;
  if (!hiddenAt || now - hiddenAt < RETURN_MS || body.dataset.notify || !page.source?.isPlain) return;
  const { source } = page;
  page.source = null;
  source.close();
}

function watch() {
  const now = Date.now();
  if (page.source && now - page.heardAt > SILENCE_MS) drop();
  if (probeAt && now > probeAt) tryReturn();
  if (now - seenAt > SEEN_MS) beSeen();
  rest(now);
  if (!lostAt) watchSession(now);
  if (!lostAt || isOver) return;
  if (now - lostAt > CHIP_MS) say("retry");
  if (now - lostAt < BANNER_MS) return;
  show("lost");
  const countdown = document.querySelector("[data-retry-at]");
  if (countdown) countdown.dateTime = new Date(retryAt).toISOString();
}

/** Another page has come, which is up to date. */
export function goOn() {
  isOver = false;
  lostAt = attempts = 0;
  probe?.close();
  probe = null;
  if (!["live", "plain"].includes(state)) state = "";
  body.removeAttribute("data-lost");
  if (state) say();
  refreshBadge();
  connect();
}

/** Take over the line of this page. */
export function keep(line) {
  page = line;
  setInterval(watch, 1000);
  // It says that there is no connection, when nothing can be fetched.
  setTimeout(() => import("./refused.js"), REFUSED_MS);
  // Nothing can be fetched later when somebody goes on writing without a connection.
  eachPage(() => document.querySelector("[data-composer]") && import("./write.js"));
  addEventListener("online", () => (page.source ? tryReturn() : connect()));
  addEventListener("offline", drop);
  // A page that comes back from the history is as old as when it was left.
  addEventListener("pageshow", (event) => event.persisted && drop());
  document.addEventListener("visibilitychange", () => document.hidden || (page.source ? beSeen() : connect()));
  addEventListener("input", beHeard);
  addEventListener("click", ({ target }) => target.closest("[data-retry]") && connect());
  document.addEventListener("htmx:before:response", ({ detail }) => detail.ctx.response.status === 401 && end("signed-out"));
  // Old builds' files may be gone.
  addEventListener("unhandledrejection", (event) => {
    if (!/module/i.test(event.reason?.message)) return;
    event.preventDefault();
    navigator.onLine && show("missing");
  });
}
