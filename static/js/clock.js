// Times that move on: ages, clocks, countdowns, and hours in the reader's zone.
import { eachPage } from "./page.js";
import { _ } from "./words.js";
const TICK_MS = 1000;

function ago(seconds) {
  for (const [text, size] of [[_("{count}d"), 86400], [_("{count}h"), 3600], [_("{count}m"), 60]])
    if (seconds >= size) return text.replace("{count}", Math.floor(seconds / size));
  return _("now");
}

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const pad = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return `${hours ? `${hours}:${pad(minutes)}` : minutes}:${pad(whole % 60)}`;
}

// Making one takes longer than all else here.
const formats = {};
function hours(day) {
  return (formats[day] ??= new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: day, timeStyle: "short", hourCycle: "h23" }));
}

// New nodes restyle the page.
const write = (node, text) => node.textContent !== text && ((node.firstChild ?? node.appendChild(new Text())).data = text);

function tick() {
  if (document.hidden) return;
  const now = Date.now();
  for (const node of document.querySelectorAll("time")) {
    const moment = new Date(node.dateTime);
    const age = (now - moment) / 1000;
    if ("clock" in node.dataset) document.body.dataset.lost ?? write(node, clock(age));
    else if ("countdown" in node.dataset) write(node, age < 0 ? clock(1 - age) : "");
    else if ("localTime" in node.dataset) write(node, hours(node.dataset.localTime || undefined).format(moment));
    // Older than a week: the server wrote a date.
    else if ("ago" in node.dataset && age < 7 * 86400) write(node, ago(age));
  }
}
eachPage(tick);
setInterval(tick, TICK_MS);
document.addEventListener("visibilitychange", tick);
