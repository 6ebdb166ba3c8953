// Times that move on: ages, running clocks, countdowns, and hours in the reader's own zone.
const TICK_MS = 1000;

function ago(seconds) {
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const pad = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes}:${pad(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(whole % 60)}`;
}

const write = (node, text) => node.textContent !== text && (node.textContent = text);

function tick() {
  if (document.hidden) return;
  const now = Date.now();
  for (const node of document.querySelectorAll("time[data-clock], time[data-countdown], time[data-ago], time[data-local-time]")) {
    const moment = new Date(node.dateTime);
    const age = (now - moment) / 1000;
    if ("clock" in node.dataset) write(node, clock(age));
    else if ("countdown" in node.dataset) write(node, age < 0 ? clock(1 - age) : "");
    else if ("localTime" in node.dataset) write(node, moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }));
    // Older than a week: the server wrote a date.
    else if (age < 7 * 86400) write(node, ago(age));
  }
}
tick();
setInterval(tick, TICK_MS);
document.addEventListener("visibilitychange", tick);
