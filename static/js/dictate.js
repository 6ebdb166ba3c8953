// Dictation by the browser: what is said goes to the caret of the message.
import { writeAtCursor } from "./message.js";
import { announce } from "./notify.js";
import { onLeave } from "./page.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

let listening = null;

function show(guess = "") {
  if (!document.querySelector("[data-dictate]")) return;
  document.querySelector("[data-dictate]").ariaPressed = Boolean(listening);
  document.querySelector("[data-dictate-note]").hidden = !listening;
  document.querySelector("[data-dictate-guess]").textContent = guess;
}

function take({ resultIndex, results }) {
  const heard = Array.from(results).slice(resultIndex);
  const said = (isFinal) => heard.filter((one) => one.isFinal === isFinal).map((one) => one[0].transcript.trim()).join(" ");
  if (said(true)) writeAtCursor(`${said(true)} `);
  show(said(false));
}

function fail({ error }) {
  if (error === "aborted" || error === "no-speech") return;
  toast(/not-allowed$/.test(error) ? _("Allow the microphone for this page in the browser's settings to dictate.") : _("The browser could not recognize speech."), "bad");
}

function end() {
  listening = null;
  show();
  announce(_("Dictation stopped."));
}

/** Begin to listen, or stop. */
export function toggle() {
  if (listening) return listening.stop();
  listening = new webkitSpeechRecognition();
  Object.assign(listening, { lang: document.documentElement.lang, continuous: true, interimResults: true, onresult: take, onerror: fail, onend: end });
  listening.start();
  show();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !listening) return;
  event.preventDefault();
  event.stopPropagation();
  listening.stop();
}, true);
// What comes later belongs to no message.
document.addEventListener("submit", ({ target }) => target.matches("[data-composer]") && listening?.abort());
onLeave(() => listening?.abort());
