// Tells of sessions that need somebody, or have ended, while nobody looks at the page. Which of both
// the person's account says; whether at all, this browser.
import { toast } from "./notify.js";

const kinds = () => new Set((document.body.dataset.notify ?? "").split(" ").filter(Boolean));
const rail = document.querySelector("[data-rail]");
const states = new Map();

/** The service worker shows them: phones know no other way. */
export const ready = () => navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready);

function stateOf(row) {
  return /state-(\w+)/.exec(row.querySelector(".state").className)?.[1] ?? "";
}

async function tell(row, what) {
  const title = row.querySelector(".session-row-title").lastChild.textContent.trim();
  const body = `${what}: ${row.querySelector(".session-row-detail").textContent.trim()}`;
  const worker = await ready();
  // One for each session: a newer one takes the place of the older.
  await worker.showNotification(title, { body, tag: row.id, data: { url: new URL(row.href).pathname } });
}

function look() {
  for (const row of rail.querySelectorAll("[data-session-row]")) {
    const [before, now] = [states.get(row.id), stateOf(row)];
    states.set(row.id, now);
    if (before === undefined || before === now || !document.hidden) continue;
    if (now === "ask" && kinds().has("asks")) tell(row, "Needs you");
    else if (["done", "fail"].includes(now) && ["run", "queue"].includes(before) && kinds().has("ends")) tell(row, now === "done" ? "Done" : "Failed");
  }
}

if (rail && kinds().size) {
  look();
  new MutationObserver(look).observe(rail, { childList: true, subtree: true });
}

/** Ask this browser for leave, for the button of the settings page. */
export async function permit(button) {
  if ((await Notification.requestPermission()) !== "granted") {
    toast("This browser does not allow notifications of this site. Allow them in its own settings.", "bad");
    return;
  }
  const worker = await ready();
  await worker.showNotification("Notifications are on", { body: "This is how they look.", tag: "test", data: { url: location.pathname } });
  button.textContent = "Show a test again";
}
