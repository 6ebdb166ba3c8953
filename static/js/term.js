// The terminal pane: tabs, one screen and one socket for each terminal that was looked at.
import { connectLine, ptyAddress } from "./line.js";
import { make } from "./make.js";
import { insertIntoMessage } from "./message.js";
import { onLeave } from "./page.js";
import { load } from "./view.js";
import { headers } from "./taste.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

const RESIZE_MS = 150;
let pane, screens, list, state;
const open = new Map();
let current = "";
let library = null;

const tabs = () => [...list.querySelectorAll("[data-terminal-id]")];
const tabOf = (id) => tabs().find((tab) => tab.dataset.terminalId === id);
const reads = () => localStorage.getItem("terminal-reader") === "on";

async function call(method, path, body) {
  const given = body && { body: JSON.stringify(body) };
  const answer = await fetch(path, { method, headers: { ...headers(), "Content-Type": "application/json" }, ...given });
  const said = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(said?.data?.message ?? said?.message ?? _("The server sent an unexpected response."));
  return said;
}

async function bringLibrary() {
  const sheet = make("link", { rel: "stylesheet", href: pane.dataset.sheet });
  const styled = new Promise((done) => (sheet.onload = sheet.onerror = done));
  document.head.append(sheet);
  const [xterm, fit] = await Promise.all([import(pane.dataset.xterm), import(pane.dataset.fit), styled, document.fonts.load("13px 'JetBrains Mono'")]);
  return { Terminal: xterm.Terminal, FitAddon: fit.FitAddon };
}

const say = (...nodes) => state.replaceChildren(...nodes);

function theme() {
  const probe = document.createElement("span");
  screens.append(probe);
  const of = (name) => ((probe.className = name), getComputedStyle(probe).color);
  const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
  const colours = names.flatMap((name, index) => [
    [name, of(`ansi${30 + index}`)],
    [`bright${name[0].toUpperCase()}${name.slice(1)}`, of(`ansi${90 + index}`)],
  ]);
  probe.remove();
  const { backgroundColor: background, color: foreground } = getComputedStyle(screens);
  return { ...Object.fromEntries(colours), background, foreground, cursor: foreground, cursorAccent: background, selectionBackground: "rgba(120, 140, 200, 0.4)" };
}

function addScreen(tab) {
  const { terminalId: id, owner, ended, rows, columns } = tab.dataset;
  const ariaLabel = owner ? _("Terminal of {owner}. Press Ctrl F6 to leave it.", { owner }) : _("Terminal. Press Ctrl F6 to leave it.");
  const host = make("div", { className: "terminal-screen", role: "group", ariaLabel });
  screens.append(host);
  const term = new library.Terminal({
    cols: Number(columns),
    rows: Number(rows),
    theme: theme(),
    fontFamily: "'JetBrains Mono', ui-monospace, monospace",
    fontSize: parseFloat(getComputedStyle(document.body).fontSize) - 1,
    scrollback: 10000,
    minimumContrastRatio: 4.5,
    screenReaderMode: reads(),
    disableStdin: Boolean(owner),
  });
  const fit = new library.FitAddon();
  term.loadAddon(fit);
  term.open(host);
  const screen = { id, host, term, fit, line: null, note: "", back: false };
  term.attachCustomKeyEventHandler((event) => handleKey(event, screen));
  open.set(id, screen);
  if (ended) screen.note = ended;
  else attach(screen, Boolean(owner));
  return screen;
}

function handleKey(event, screen) {
  // One that has ended takes no keys: Tab goes on to what restarts it.
  if (event.key === "Tab" && !screen.line) return false;
  if (event.type !== "keydown" || !(event.ctrlKey || event.metaKey)) return true;
  if (event.key === "F6") {
    event.preventDefault();
    tabOf(current)?.focus();
    return false;
  }
  if (!event.shiftKey || event.code !== "KeyC") return true;
  event.preventDefault();
  navigator.clipboard?.writeText(screen.term.getSelection());
  return false;
}

function attach(screen, watching) {
  const { term } = screen;
  // What a program asked is answered once: not when its output is read again.
  let answers = false;
  screen.line = connectLine(screen.id, watching, {
    text: (text, done) => term.write(text, done),
    skipped: () => term.write(`\r\n[${_("Some output was skipped.")}]\r\n`),
    size: (rows, cols) => term.resize(cols, rows),
    state(name, seconds) {
      if (name !== "live") answers = false;
      else term.write("", () => (answers = true));
      const came = name === "live" && screen.back ? _("Reconnected.") : "";
      if (name === "lost") screen.back = true;
      screen.note = {
        connecting: _("Connecting…"),
        lost: _("Connection lost. The terminal keeps running. Retrying in {seconds} s.", { seconds }),
        live: watching ? `${came} ${_("Watching the terminal of {owner}. You cannot type.", { owner: tabOf(screen.id)?.dataset.owner })}`.trim() : came && _("Reconnected. Nothing was lost."),
      }[name];
      show();
      if (name === "live" && !watching) resize();
    },
    async over() {
      screen.line = null;
      await refresh();
      const tab = tabOf(screen.id);
      if (!tab) screen.note = _("The terminal has ended, or you no longer have access to it.");
      else screen.note = tab.dataset.ended || _("Ended.");
      show();
    },
  });
  term.onData((text) => answers && screen.line?.send(text));
}

function show() {
  const tab = tabOf(current);
  const screen = open.get(current);
  tabs().forEach((item) => item.setAttribute("aria-pressed", item === tab));
  for (const one of open.values()) one.host.hidden = one !== screen;
  list.querySelectorAll("[data-own]").forEach((item) => (item.hidden = !tab || Boolean(tab.dataset.owner)));
  list.querySelector("[data-terminal-share]")?.setAttribute("aria-pressed", Boolean(tab?.dataset.watchable));
  list.querySelector("[data-terminal-reader]")?.setAttribute("aria-pressed", reads());
  const title = list.querySelector("#terminal-title");
  if (title && document.activeElement !== title) title.value = tab?.dataset.title ?? "";
  if (!screen) return say("");
  const again = list.querySelector("[data-terminal-open]") && !screen.line && tab && !tab.dataset.owner;
  say(screen.note, ...(again ? [" ", make("button", { className: "button", type: "button", onclick: () => startAgain(screen.id) }, _("Restart"))] : []));
}

async function choose(id, { focus = false } = {}) {
  const tab = tabOf(id);
  if (!tab) return;
  current = id;
  library = await (bringing ??= bringLibrary());
  if (current !== id) return;
  const screen = open.get(id) ?? addScreen(tab);
  show();
  resize();
  if (focus) screen.term.focus();
}
let bringing = null;

let due = null;
function resize() {
  const screen = open.get(current);
  const tab = tabOf(current);
  if (!screen || !tab || tab.dataset.owner || !screen.host.clientHeight) return;
  const size = screen.fit.proposeDimensions();
  if (!size?.rows || !size.cols) return;
  const { rows, cols } = size;
  if (rows !== screen.term.rows || cols !== screen.term.cols) screen.term.resize(cols, rows);
  if (!screen.line || (Number(tab.dataset.rows) === rows && Number(tab.dataset.columns) === cols)) return;
  clearTimeout(due);
  due = setTimeout(async () => {
    Object.assign(tab.dataset, { rows, columns: cols });
    await call("PUT", ptyAddress(screen.id), { size: { rows, cols } }).catch(() => {});
  }, RESIZE_MS);
}

async function refresh() {
  await load(list, pane.dataset.list);
  for (const [id, screen] of open) if (!tabOf(id) && !screen.line && id !== current) drop(id);
}

function drop(id) {
  const screen = open.get(id);
  screen?.line?.stop();
  screen?.term.dispose();
  screen?.host.remove();
  open.delete(id);
}

async function attempt(work) {
  try {
    await work();
    await refresh();
    show();
  } catch (error) {
    say(error.message);
  }
}

async function openOne(title = "") {
  say(_("Starting…"));
  const { id } = await call("POST", list.querySelector("[data-terminal-open]").dataset.terminalOpen, title ? { title } : {});
  await refresh();
  await choose(id, { focus: true });
}

async function close(id) {
  clearTimeout(due);
  await call("DELETE", ptyAddress(id));
  drop(id);
  await refresh();
  if (current === id) current = "";
  const next = tabs()[0]?.dataset.terminalId;
  if (!current && next) await choose(next);
}

const startAgain = (id) =>
  attempt(async () => {
    const { title } = tabOf(id).dataset;
    await openOne(title);
    await call("DELETE", ptyAddress(id));
    drop(id);
  });

function quote() {
  const text = open.get(current)?.term.getSelection().trimEnd();
  if (!text) return say(_("Select something in the terminal first."));
  insertIntoMessage(`\n${text.split(/\r?\n/).map((line) => `> ${line}`).join("\n")}\n`);
}

function setReader() {
  localStorage.setItem("terminal-reader", reads() ? "off" : "on");
  for (const { term } of open.values()) term.options.screenReaderMode = reads();
  show();
}

const acts = {
  terminalId: (item) => choose(item.dataset.terminalId, { focus: true }),
  terminalOpen: () => attempt(() => openOne()),
  terminalClose: () => attempt(() => close(current)),
  terminalShare: () => attempt(async () => {
    const watchable = !tabOf(current).dataset.watchable;
    await call("PUT", ptyAddress(current), { watchable });
    toast(watchable ? _("Members can see this terminal now.") : _("Only you can see this terminal now."), "ok");
  }),
  terminalReader: setReader,
  terminalQuote: quote,
  terminalCopy: () => navigator.clipboard?.writeText(open.get(current)?.term.getSelection() ?? ""),
  terminalKey: ({ dataset: { terminalKey: keyCode, ctrl } }) => open.get(current)?.term.textarea.dispatchEvent(new KeyboardEvent("keydown", { keyCode, ctrlKey: ctrl === "" })),
  terminalPaste: async () => open.get(current)?.term.paste((await navigator.clipboard?.readText()) ?? ""),
};

function begin() {
  pane = document.querySelector("[data-terminal]");
  [screens, list, state] = ["screens", "list", "state"].map((name) => pane.querySelector(`[data-terminal-${name}]`));
  // With the focus the keyboard stays.
  pane.addEventListener("mousedown", (event) => event.target.closest("[data-terminal-key]") && event.preventDefault());
  pane.addEventListener("click", (event) => {
    const item = event.target.closest("button");
    const act = item && Object.keys(acts).find((name) => name in item.dataset);
    if (!act) return;
    item.closest("[data-menu]")?.removeAttribute("open");
    acts[act](item);
  });

  list.addEventListener("submit", (event) => {
    event.preventDefault();
    const title = event.target.elements.title.value.trim();
    event.target.closest("[data-menu]").open = false;
    document.activeElement.blur();
    if (title) attempt(() => call("PUT", ptyAddress(current), { title }));
  });

  new ResizeObserver(resize).observe(screens);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const { term } of open.values()) term.options.theme = theme();
});

onLeave(() => {
  clearTimeout(due);
  [...open.keys()].forEach(drop);
  current = "";
});

/** Show the pane: the terminal that was shown last, or the first. */
export function start() {
  if (!pane?.isConnected) begin();
  if (current && tabOf(current)) return open.get(current)?.term.focus();
  const first = tabs()[0]?.dataset.terminalId;
  if (first) choose(first);
}
