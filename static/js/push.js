// Subscribes this browser to Web Push, on the page of notifications.
import { ready } from "./notifications.js";

const form = () => document.querySelector("[data-push]");
const part = (name) => document.querySelector(`[data-push-${name}]`);

async function subscribe() {
  // First: some browsers ask only as long as the click lasts.
  if ((await Notification.requestPermission()) !== "granted") throw new Error("denied");
  const { pushManager } = await ready();
  // The one of whoever was signed in before, or of another key.
  await (await pushManager.getSubscription())?.unsubscribe();
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: form().dataset.push });
  const { endpoint, keys } = made.toJSON();
  for (const [name, value] of Object.entries({ endpoint, ...keys })) form().elements[name].value = value;
  form().submit();
}

/** Offer it where the browser can. */
export function offer() {
  if (!window.PushManager) return;
  form().hidden = !(part("missing").hidden = true);
  form().addEventListener("submit", (event) => {
    event.preventDefault();
    subscribe().catch(() => (part("fault").hidden = false));
  });
}
