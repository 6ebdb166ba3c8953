// The server's frames, in order from the page's cursor; after a break they go on from there.
import { announce, refreshBadge } from "./notify.js";
import { eachPage, onLeave } from "./page.js";
import { closeBlocks, flushText, growText } from "./stream.js";
import { later, noteNew, prune } from "./window.js";

const ACKNOWLEDGE = 64;
const RETRY_MS = 3000;
const { base, liveTeam } = document.body.dataset;
const main = () => document.querySelector("main[data-session]");

const morph = (target, text, swap) => htmx.swap({ target, text, swap, sourceElement: document.body });

function put(target, html) {
  const node = new DOMParser().parseFromString(html, "text/html").body.firstElementChild;
  const old = document.getElementById(node.id);
  if (old) return morph(old, html, "outerMorph");
  if (!target) return;
  if (target.id !== "log" || !later()) {
    target.append(node);
    htmx.process(node);
  }
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

const readAgain = (...how) => import("./missing.js").then(({ askAll }) => askAll(page, applyAll, ...how));
document.addEventListener("newest", ({ detail }) => readAgain(true, detail === "show"));

const lists = (act) => import("./lists.js").then(act);
const refreshLists = () => lists(({ refresh }) => refresh());

function take(frame, source) {
  page.heardAt = Date.now();
  const { k, q, p, ops } = frame;
  if (k === "d" || k === "b" || k === "h") page.activeAt = page.heardAt;
  if (k === "d") return growText(frame);
  if (k === "b") return closeBlocks(frame);
  if (k === "p") return ops.forEach(apply);
  if (frame.asks) refreshBadge((document.body.dataset.asks = JSON.stringify(frame.asks)));
  if (k === "u") return lists(({ update }) => frame.rows.forEach((row) => update(row, apply)));
  if (k === "reset") return readAgain();
  if (k === "hi") return link((module) => module.greeted(source, frame));
  if (k === "role" || k === "gone") return link((module) => module.told(frame));
  if (k !== "h" || q <= page.cursor) return;
  if (p > page.cursor) return source.close();
  page.cursor = q ?? page.cursor;
  applyAll(ops);
}

function query() {
  const asked = new URLSearchParams({ team: liveTeam, project: document.body.dataset.liveProject, lang: document.documentElement.lang });
  if (main()) asked.set("session", main().dataset.session);
  if (main()) asked.set("after", page.cursor);
  return asked;
}

function open() {
  const socket = new WebSocket(`${location.origin.replace("http", "ws")}${base}/ws/?${query()}`);
  let taken = 0;
  socket.onmessage = ({ data }) => {
    take(JSON.parse(data), socket);
    taken += 1;
    if (taken % ACKNOWLEDGE === 0) socket.send(String(ACKNOWLEDGE));
  };
  socket.onclose = ({ code }) => page.closed(socket, code);
  return socket;
}

const plain = () => `${base}/t/${liveTeam}/${main() ? `s/${main().dataset.session}/` : ""}live?${query()}&seen=${Number(!document.hidden)}`;
const page = { take, open, plain, closed, refreshLists };

// What keeps the line up comes when it stands, or when it does not.
let line = null;
function link(act, lost) {
  line ??= import("./link.js").then((module) => module.keep(page) ?? module);
  return line.then(act, lost);
}

function closed(source, code) {
  const again = () => {
    line = null;
    setTimeout(() => (page.source = open()), RETRY_MS);
  };
  link((module) => module.closed(source, code), again);
}

onLeave(() => (page.source = page.source?.close()));
eachPage(() => {
  const { q = 0, active } = main()?.dataset ?? {};
  Object.assign(page, { cursor: Number(q), heardAt: Date.now(), activeAt: Date.parse(active) || Date.now() });
  if (line) link(({ goOn }) => goOn());
  else if (liveTeam) page.source = open();
});
