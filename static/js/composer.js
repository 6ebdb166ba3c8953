// The message field before anybody has touched it. Writing and stopping load with the first event that
// is about them, and is handed on.
import { bind, clickable } from "./keys.js";
import { eachPage } from "./page.js";
import { ulid } from "./ulid.js";

const form = () => document.querySelector("[data-composer]");
const isPrompt = (target) => target.matches("[data-prompt]");
const stop = () => document.querySelector("[data-stop]");
const write = () => import("./write.js");
const attach = () => import("./attach.js");
const on = (...what) => document.addEventListener(...what);

// Fragments are the same for all viewers: what makes a submission unique is made here, and stays.
document.addEventListener("submit", ({ target }) => target.querySelectorAll("[data-ulid]").forEach((field) => (field.value ||= ulid())), true);

for (const type of ["focusin", "input", "submit"]) on(type, ({ target }) => target.closest("[data-composer]") && write());

// Files come by a button, the clipboard or the pointer.
on("change", ({ target }) => target.matches("[data-files]") && attach().then(({ show }) => show()));
on("paste", ({ target, clipboardData }) => {
  const files = [...clipboardData.files];
  if (files.length && isPrompt(target)) attach().then((module) => module.attach(files));
});
function drag(event) {
  if (!form() || !event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  const files = [...event.dataTransfer.files];
  attach().then((module) => module[event.type](files, event));
}
on("dragover", drag);
on("drop", drag);

const pick = (kind) => import("./picker.js").then(({ open }) => open(kind));
on("click", ({ target }) => target.closest("[data-pick]") && pick(target.closest("[data-pick]").dataset.pick));
// Without encryption browsers give no microphone.
if (isSecureContext && "webkitSpeechRecognition" in window) document.documentElement.dataset.speech = "";

on("keydown", (event) => {
  // Safari ends a composition before its last key, which is 229 then.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  if (!isPrompt(event.target)) return;
  if (event.key === "ArrowUp" && !event.target.value) import("./recall.js").then(({ recall }) => recall(event.target, 1));
  if (event.key !== "Enter" || event.shiftKey) return;
  // A keyboard on the screen has no other key for the next line.
  if (!event.ctrlKey && !event.metaKey && matchMedia("(hover: none)").matches) return;
  event.preventDefault();
  write().then(({ enter }) => enter(event));
});

// Keys typed until the next page comes are for it.
const begin = clickable('[data-command="new-session"]');
function beginSession() {
  if (form() && !form().closest("[data-session]")) return form().elements.prompt.focus();
  hear();
  begin.run();
}
// So are those after a start and a sign-in.
let isNew = /\/(login|setup)$/.test(document.referrer);
eachPage(() => {
  if (!form()) return dispatchEvent(new Event("handed"));
  if (localStorage.getItem(`draft:${form().dataset.draft}`)) write();
  if (isNew || "early" in sessionStorage) import("./early.js").then(({ hand }) => hand());
  isNew = false;
});

const arm = (isArmed) => write().then((module) => module.arm(isArmed));
bind({ id: "new-session", when: begin.when, run: beginSession });
for (const id of ["agent", "model", "variant"]) bind({ id, when: form, run: () => pick(id) });
bind({ id: "write", when: form, run: () => document.querySelector("[data-prompt]").focus() });
bind({ id: "stop", fields: "[data-prompt]", when: stop, run: () => stop().click(), begin: () => arm(true), end: () => arm(false) });
