// The preview pane: apps that run in the person's terminals, one of them in a frame. The app is not
// trusted: what its page says is text that a person reads before it is sent.
import { fetchFragment } from "./fragment.js";
import { insertIntoMessage } from "./message.js";
import { headers } from "./taste.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

const POLL_MS = 3000;
const MAX_ERRORS = 20;
const MAX_CHARS = 6000;
const MAX_PICTURE_BYTES = 20 * 1024 * 1024;
let pane, list, shown;
let timer = null;
let errors = [];
// What the app was asked for and owes: nothing else of it is taken.
let awaits = "";
let opened = "";

const app = () => shown.querySelector("[data-preview-app]");
const frame = () => shown?.querySelector("iframe");
const button = (act) => shown.querySelector(`[data-preview-act="${act}"]`);
const text = (value, most = MAX_CHARS) => (typeof value === "string" ? value.slice(0, most) : "");

function say(words) {
  const state = shown.querySelector("[data-preview-state]");
  if (state) state.textContent = words;
}

function mark() {
  for (const item of list.querySelectorAll("[data-preview-open]")) item.ariaPressed = String(keyOf(item) === opened);
}
const keyOf = ({ dataset: { terminal, port } }) => `${terminal} ${port}`;

async function fetchText(url, options) {
  const page = await fetchFragment(url, { ...options, headers: headers() });
  if (!page?.ok) throw new Error(page?.body.textContent.trim());
  return page.text;
}

let drawn = "";
async function poll() {
  if (pane.checkVisibility() && !document.hidden) {
    try {
      const said = await fetchText(pane.dataset.list);
      if (said !== drawn && !list.contains(document.activeElement)) {
        await htmx.swap({ target: list, text: (drawn = said), swap: "innerHTML", sourceElement: list });
        mark();
      }
    } catch {
      // The list stays; the page says when the server is gone.
    }
  }
  if (pane.isConnected) timer = setTimeout(poll, POLL_MS);
}

async function open(item) {
  const { previewOpen, terminal, port } = item.dataset;
  try {
    const said = await fetchText(previewOpen, { method: "POST", body: new URLSearchParams({ terminal, port }) });
    close();
    opened = keyOf(item);
    await htmx.swap({ target: shown, text: said, swap: "innerHTML", sourceElement: shown });
    mark();
  } catch (error) {
    toast(error.message.slice(0, 300) || _("The server sent an unexpected response."), "bad");
  }
}

function close() {
  shown.replaceChildren();
  opened = awaits = "";
  errors = [];
  mark();
}

function go(path) {
  const { origin, url } = app().dataset;
  const { pathname, search, hash } = new URL(`${origin}/${path.replace(/^\/+/, "")}`);
  shown.querySelector("#preview-path").value = pathname + search + hash;
  setErrors([]);
  // By way of the server: the frame may have lost its cookie.
  frame().src = `${url}?${new URLSearchParams({ to: pathname + search + hash })}`;
}

const ask = (kind) => frame().contentWindow.postMessage({ preview: 1, kind }, app().dataset.origin);

function setAwaited(kind = "", words = "") {
  awaits = kind;
  button("pick").ariaPressed = String(kind === "picked");
  say(words);
}

function write(lines) {
  const isFirst = !document.querySelector("[data-prompt]").value;
  insertIntoMessage(`${isFirst ? "" : "\n"}${lines}\n`);
}

function fenced(body, language = "") {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${body}\n${fence}`;
}

const line = (value) => text(value, 600).replace(/[\s`]+/g, " ").trim();

const takes = {
  here({ path, title }) {
    const field = shown.querySelector("#preview-path");
    if (document.activeElement !== field) field.value = text(path, 2000) || "/";
    shown.querySelector("[data-preview-tab]").href = `${app().dataset.url}?${new URLSearchParams({ to: text(path, 2000) })}`;
    if (line(title)) frame().title = line(title);
    if (awaits === "picked") ask("pick");
  },
  picked({ path, selector, source, html, text: words, box }) {
    const [, , width, height] = Array.isArray(box) ? box.map(Number) : [];
    const lines = [
      _("Element of the app preview, at {path}:", { path: `\`${line(path)}\`` }),
      `- ${_("Selector: {selector}", { selector: `\`${line(selector)}\`` })}`,
      ...(line(source) ? [`- ${_("Source: {source}", { source: `\`${line(source)}\`` })}`] : []),
      ...(width >= 0 ? [`- ${_("Size: {width} × {height}", { width: Math.round(width), height: Math.round(height) })}`] : []),
      ...(line(words) ? [`- ${_("Text: {text}", { text: `\`${line(words)}\`` })}`] : []),
    ];
    setAwaited();
    write(`${lines.join("\n")}\n${fenced(text(html, 4200), "html")}`);
  },
  unpicked: () => setAwaited(),
  async picture({ blob }) {
    setAwaited();
    if (!(blob instanceof Blob) || blob.type !== "image/png" || blob.size > MAX_PICTURE_BYTES) return say(_("The app could not be captured."));
    const stamp = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
    (await import("./attach.js")).attach([new File([blob], `preview-${stamp}.png`, { type: "image/png" })]);
  },
  "no-picture": () => setAwaited("", _("The app could not be captured.")),
  error: ({ text: words }) => setErrors([...errors, text(words, 600)].slice(-MAX_ERRORS)),
};
const asked = { picked: "picked", unpicked: "picked", picture: "picture", "no-picture": "picture" };

function setErrors(all) {
  errors = all;
  const item = button("errors");
  item.hidden = !errors.length;
  item.querySelector("[data-preview-errors]").textContent = errors.length;
}

window.addEventListener("message", ({ source, origin, data }) => {
  if (!frame() || source !== frame().contentWindow || origin !== app().dataset.origin || data?.preview !== 1) return;
  const { kind } = data;
  if (!Object.hasOwn(takes, kind) || (asked[kind] && awaits !== asked[kind])) return;
  takes[kind](data);
});

const acts = {
  reload: () => go(shown.querySelector("#preview-path").value),
  pick() {
    if (awaits === "picked") {
      ask("unpick");
      return setAwaited();
    }
    setAwaited("picked", _("Click an element of the app. Esc stops."));
    ask("pick");
    frame().focus();
  },
  picture() {
    setAwaited("picture", _("Capturing the app…"));
    ask("picture");
  },
  errors() {
    write(`${_("Errors of the app preview:")}\n${fenced(errors.join("\n"))}`);
    setErrors([]);
  },
  close,
};

/** Show the pane. */
export function start() {
  if (pane?.isConnected) return;
  pane = document.querySelector("[data-preview]");
  [list, shown] = ["list", "shown"].map((name) => pane.querySelector(`[data-preview-${name}]`));
  [errors, awaits, opened, drawn] = [[], "", "", ""];
  pane.addEventListener("click", ({ target }) => {
    const item = target.closest("[data-preview-open]");
    if (item) return open(item);
    const act = target.closest("[data-preview-act]")?.dataset.previewAct;
    if (act) acts[act]();
  });

  pane.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || awaits !== "picked") return;
    event.preventDefault();
    event.stopPropagation();
    acts.pick();
  });

  pane.addEventListener("change", ({ target }) => {
    if (target.matches("[data-preview-width]")) shown.querySelector("[data-preview-frame]").dataset.width = target.value;
  });

  pane.addEventListener("submit", (event) => {
    event.preventDefault();
    go(event.target.elements.path.value.trim());
  });

  clearTimeout(timer);
  poll();
}
