// Notifications of sessions that need somebody, have ended or failed, away from the page.
// The account says of which and with what sound; this browser, whether at all.
import { eachPage } from "./page.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

const kinds = () => new Set((document.body.dataset.notify ?? "").split(" ").filter(Boolean));
let rail;
const states = new Map();
let isFirst = true;
const KINDS = { ask: "asks", done: "ends", fail: "fails" };
const HERTZ = { asks: 880, ends: 660, fails: 330 };
const CHIME_S = 0.4;
let audio = null;

export const ready = () => navigator.serviceWorker.register(`${document.body.dataset.base}/sw.js`).then(() => navigator.serviceWorker.ready);

function stateOf(row) {
  return /state-(\w+)/.exec(row.querySelector(".state").className)?.[1] ?? "";
}

/** A short tone. Browsers allow none on a page that nobody has touched. */
function chime(kind) {
  audio ??= new AudioContext();
  const [tone, volume, end] = [audio.createOscillator(), audio.createGain(), audio.currentTime + CHIME_S];
  tone.frequency.value = HERTZ[kind];
  volume.gain.setValueAtTime(0.1, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, end);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(end);
}

async function tell(row, what) {
  if (window.Notification?.permission !== "granted") return;
  const title = row.querySelector(".session-row-title").lastChild.textContent.trim();
  const body = `${what}: ${row.querySelector(".session-row-detail > span").textContent}`;
  const worker = await ready();
  // One for each session: a newer one takes the place of the older.
  await worker.showNotification(title, { body, tag: row.closest("[data-row]").id, data: { url: new URL(row.href).pathname } });
}

function look() {
  const { role } = document.body.dataset;
  for (const row of rail.querySelectorAll("[data-session-row]")) {
    const now = stateOf(row);
    // A member who cannot answer has asked those who can.
    const isForAdmins = "asksAdmins" in row.dataset && row.closest(`[data-answerers~="${role}"]`);
    const [before, seen] = [states.get(row.href), isForAdmins ? "ask-admins" : now];
    states.set(row.href, seen);
    const isNew = before === undefined && (isFirst || now !== "ask"); // What is new and asks is news.
    if (isNew || before === seen || !document.hidden) continue;
    if (now === "ask" ? !row.closest(`[data-answerers~="${role}"]`) : !["run", "queue"].includes(before)) continue;
    if (kinds().has(KINDS[now])) tell(row, { ask: _("Needs you"), done: _("Done"), fail: _("Failed") }[now]);
    if (kinds().has(`sound-${KINDS[now]}`)) chime(KINDS[now]);
  }
}

eachPage(() => {
  rail = document.querySelector("[data-rail]");
  if (!rail || !kinds().size) return;
  look();
  isFirst = false;
  new MutationObserver(look).observe(rail, { childList: true, subtree: true, attributeFilter: ["data-asks-admins"] });
});

/** Ask for permission or play a sound, for the settings page. */
export async function permit(button) {
  if (button.dataset.permit) return chime(button.dataset.permit);
  if ((await Notification.requestPermission()) !== "granted") {
    return toast(_("This browser blocks notifications from this site. Allow them in the browser settings."), "bad");
  }
  const worker = await ready();
  await worker.showNotification(_("Notifications are on"), { body: _("This is how they look."), tag: "test", data: { url: location.pathname } });
  button.textContent = _("Show another test");
}
