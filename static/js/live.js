// The server's socket: frames are applied in order, from the cursor that the page was made at.
// At each return the server goes on from there.
import { announce, toast } from "./notify.js";
import { closeBlocks, flushText, growText } from "./stream.js";
import { noteNew, prune } from "./window.js";

const CHIP_MS = 2000;
const BANNER_MS = 6000;
const SILENCE_MS = 35000;
const ACKNOWLEDGE = 64;
const main = document.querySelector("main[data-session]");
const chip = document.querySelector("[data-live]");
const banner = document.querySelector("[data-banner]");
const countdown = document.createElement("time");
let cursor = Number(main?.dataset.q ?? 0);
let socket = null;
let attempts = 0;
let lostAt = null;
let heardAt = 0;
let taken = 0;
let retryAt = 0;
let retryTimer = null;
let refreshTimer = null;

const morph = (target, text, swap) => htmx.swap({ target, text, swap, sourceElement: document.body });

function put(target, html) {
  const node = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  const old = document.getElementById(node.id);
  if (old) return morph(old, html, "outerMorph");
  if (!target) return;
  target.append(node);
  htmx.process(node);
  noteNew();
}

function apply([selector, how, html]) {
  if (how === "say") return announce(html);
  const target = document.querySelector(selector);
  if (how === "put") return put(target, html);
  if (!target) return;
  if (how === "remove") return target.remove();
  morph(target, html, how === "inner" ? "innerMorph" : "outerMorph");
}

function applyAll(ops) {
  flushText();
  ops.forEach(apply);
  prune();
}

async function readAgain() {
  const response = await fetch(main.dataset.window);
  if (!response.ok) return location.reload();
  const frame = await response.json();
  cursor = frame.q;
  applyAll(frame.ops);
}

/** Lists in another order. Not while the pointer is there: nobody clicks a moving row. */
function refreshLists() {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(() => {
    if (document.querySelector("[data-rail]:hover")) return refreshLists();
    document.querySelectorAll("[data-refresh]").forEach((target) => htmx.ajax("GET", target.dataset.refresh, { target, swap: "outerMorph" }));
  }, 400);
}

function updateLists({ ops, row, group, stale }) {
  ops.forEach(apply);
  const shown = document.getElementById(`row-${row}`) ?? document.getElementById(`card-${row}`);
  const place = shown?.closest("[data-group]")?.dataset.group;
  const isThere = place === group || (group === "rest" && place && place !== "ask" && place !== "run");
  if (stale || (row && !isThere)) refreshLists();
}

function receive(frame) {
  if (frame.k === "d") return growText(frame);
  if (frame.k === "b") return closeBlocks(frame);
  if (frame.k === "u") return frame.rows.forEach(updateLists);
  if (frame.k === "reset") return readAgain();
  if (frame.k === "gone") return location.assign(main.dataset.window.replace(/s\/.*/, ""));
  if (frame.k !== "h" || frame.q <= cursor) return;
  if (frame.p > cursor) return socket.close();
  cursor = frame.q ?? cursor;
  applyAll(frame.ops);
}

function show(state, text) {
  chip.hidden = false;
  if (chip.dataset.state === state) return;
  chip.dataset.state = state;
  chip.textContent = text;
}

function warn(...content) {
  if (!banner) return;
  banner.hidden = !content.length;
  banner.replaceChildren(...content);
}

function offerRetry() {
  const button = document.createElement("button");
  Object.assign(button, { className: "button", type: "button", textContent: "Retry now", onclick: connect });
  // The seconds are seen, not heard.
  countdown.dataset.countdown = "";
  countdown.ariaHidden = true;
  warn("Connection lost. The agent keeps working. Retrying in ", countdown, button);
}

function opened() {
  show("live", "Live");
  warn();
  document.querySelector('[data-kind="lost"]')?.remove();
  if (lostAt) {
    announce("Back. The page is up to date.");
    refreshLists();
  }
  attempts = taken = 0;
  lostAt = null;
}

function closed({ code }) {
  socket = null;
  if (code === 4401 || code === 4403) {
    const text = code === 4401 ? "You are signed out. Reload the page." : "You have no access to this any more.";
    show("off", "Offline");
    warn(text);
    return toast(text, "bad");
  }
  lostAt ??= Date.now();
  const wait = Math.min(500 * 2 ** attempts++, 5000) * (0.75 + Math.random() / 2);
  retryAt = Date.now() + wait;
  retryTimer = setTimeout(connect, wait);
}

function connect() {
  clearTimeout(retryTimer);
  if (socket) return;
  const url = new URL("/ws/", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.searchParams.set("team", document.body.dataset.liveTeam);
  if (main) {
    url.searchParams.set("session", main.dataset.session);
    url.searchParams.set("after", cursor);
  }
  heardAt = Date.now();
  socket = new WebSocket(url);
  socket.onclose = closed;
  socket.onmessage = ({ data, target }) => {
    // A refused socket opens too, but no frame comes through.
    if (chip.dataset.state !== "live" || lostAt) opened();
    heardAt = Date.now();
    receive(JSON.parse(data));
    taken += 1;
    if (taken % ACKNOWLEDGE === 0) target.send(String(ACKNOWLEDGE));
  };
}

function watch() {
  if (socket && Date.now() - heardAt > SILENCE_MS) socket.close();
  if (!lostAt) return;
  const away = Date.now() - lostAt;
  if (away > CHIP_MS) show("retry", "Reconnecting…");
  if (away < BANNER_MS) return;
  if (banner?.hidden) offerRetry();
  countdown.dateTime = new Date(retryAt).toISOString();
}

if (document.body.dataset.liveTeam) {
  connect();
  setInterval(watch, 1000);
  addEventListener("online", connect);
  // A page that comes back from the history is as old as when it was left.
  addEventListener("pageshow", (event) => event.persisted && socket?.close());
}
