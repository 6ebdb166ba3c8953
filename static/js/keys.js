// The keys of commands (teams/commands); modules bind what they do.

/** The keys of each action by its id, in the notation of the server. */
export const keymap = JSON.parse(document.body.dataset.shortcuts || "{}");

const CHORD_MS = 2000;
export const MAC = /Mac|iP/.test(navigator.platform);
export const actions = [];
let begun = "";
let chords = [];
let timer;

/**
 * Say what an action does: {id, run}. `when` says whether it does anything here and now; a `scoped`
 * one goes before others with its keys; `fields` are text fields it acts in as well. `begin` and `end`
 * go around the time after the first of two keys.
 */
export function bind(action) {
  actions.push({ when: () => true, ...action });
}

// What a role must not do is not displayed, also in a menu that is closed.
const isAllowed = (item) => getComputedStyle(item.closest("[data-needs], [data-own]") ?? item).display !== "none";

/** An action that clicks the first match that is visible or in a menu. */
export function clickable(selector) {
  const find = () => [...document.querySelectorAll(selector)].find((item) => item.checkVisibility() || (item.matches(".menu-item") && item.closest("[data-menu]")?.checkVisibility() && isAllowed(item)));
  return { when: find, run: async () => (await import("./press.js")).press(find()) };
}

export function isTyping(target) {
  return target.closest?.("input:not([type=checkbox],[type=radio],[type=file]), textarea, select, [contenteditable]");
}

/** What was pressed, in the server's notation; empty for modifiers and dead keys. */
export function stroke(event) {
  let { key } = event;
  if (/^(Control|Shift|Alt|Meta|AltGraph|CapsLock|Dead|Process|Unidentified)$/.test(key)) return "";
  // A layout without Latin letters has them where the key says.
  if (key > "~" && /^Key/.test(event.code)) key = event.code.at(-1);
  const isCharacter = [...key].length === 1;
  const hasCase = key.toLowerCase() !== key.toUpperCase();
  const graph = event.getModifierState("AltGraph") || (MAC && isCharacter && event.altKey);
  const held = [
    (MAC ? event.metaKey : event.ctrlKey && !graph) && "Mod",
    event.altKey && !graph && "Alt",
    event.shiftKey && (!isCharacter || hasCase) && "Shift",
  ];
  const name = { " ": "Space", "+": "Plus" }[key] ?? (isCharacter ? key.toLowerCase() : key);
  return [...held, name].filter(Boolean).join("+");
}

/** What a command does here: {when, run}. */
export const deed = (id) => actions.find((action) => action.id === id) ?? clickable(`[data-command~="${id}"]`);

function isFree({ fields, when }, { target }, keys) {
  const here = !isTyping(target) || /^Mod/.test(keys) || (/^Alt/.test(keys) && !MAC) || (fields && target.matches(fields));
  return here && when();
}

function matching(event, isMeant) {
  const found = Object.entries(keymap).filter(([, keys]) => isMeant(keys)).map(([id, keys]) => [deed(id), keys]);
  return found.filter(([action, keys]) => isFree(action, event, keys)).map(([action]) => action)
    .sort((a, b) => Boolean(b.scoped) - Boolean(a.scoped));
}

function forget() {
  clearTimeout(timer);
  begun = "";
  chords.forEach((chord) => chord.end?.());
}
addEventListener("leave", forget);

/** A character without a binding begins a message, where nothing else has the focus. */
export function write({ key, target, ctrlKey, metaKey, altKey }, before) {
  const isOfNothing = target === document.body || target.matches("[data-log], [data-permission]");
  const field = isOfNothing && document.querySelector("[data-prompt]");
  if (!field || [...key].length !== 1 || key === " " || ctrlKey || metaKey || altKey) return;
  field.focus();
  const end = field.value.length;
  field.setRangeText(before.length === 1 ? before : "", end, end, "end");
}

function leave(event) {
  const { target } = event;
  if (!isTyping(target) || target.closest(".xterm")) return;
  // In an empty one it may be the first of two.
  if (target.value || !target.matches("[data-prompt]")) event.preventDefault();
  target.blur();
  document.querySelector(target.closest("#panel") ? "#panel [data-diffs]" : "[data-log]")?.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  // Who uses keys needs the focus kept.
  import("./focus.js");
  const pressed = stroke(event);
  if (!pressed) return;
  if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return forget();
  const before = begun;
  const all = begun ? `${begun} ${pressed}` : pressed;
  if (begun) forget();
  const [action] = [...matching(event, (keys) => keys === all), ...matching(event, (keys) => keys === pressed)];
  if (action) {
    event.preventDefault();
    action.run(event);
    return;
  }
  if (pressed === "Escape") leave(event);
  chords = matching(event, (keys) => keys.startsWith(`${pressed} `));
  if (!chords.length) return write(event, before);
  begun = pressed;
  timer = setTimeout(forget, CHORD_MS);
  chords.forEach((chord) => chord.begin?.());
  // It has closed or left something.
  setTimeout(() => event.defaultPrevented && forget());
});

const openHelp = async () => (await import("./help.js")).open(deed, keymap);
bind({ id: "help", run: openHelp });

document.addEventListener("click", (event) => event.target.closest("[data-open-keys]") && openHelp());
