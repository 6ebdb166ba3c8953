// News about the page itself: one banner at a time, in words of the server.
const texts = (name) => document.querySelector(`[data-notice="${name}"]`);

function banner() {
  const there = document.querySelector("[data-banner]");
  if (there) return there;
  const made = document.createElement("div");
  Object.assign(made, { className: "banner", role: "status", hidden: true });
  made.dataset.banner = "";
  document.querySelector("main").prepend(made);
  return made;
}

/** The sentence of that name; `%` in it stands for a number. */
export const words = (name, count) => texts(name)?.content.textContent.trim().replace("%", count) ?? "";

/** Show a notice. What is final stays, whatever comes later. */
export function show(name, { final = false } = {}) {
  const place = banner();
  if (place.dataset.final || place.dataset.shows === name || !texts(name)) return;
  place.replaceChildren(texts(name).content.cloneNode(true));
  place.dataset.shows = name;
  if (final) place.dataset.final = "on";
  place.hidden = false;
}

/** Take it away again, where it is still this one. */
export function hide(name) {
  const place = banner();
  if (place.dataset.shows !== name || place.dataset.final) return;
  delete place.dataset.shows;
  place.hidden = true;
}

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-reload]")) return;
  // Who reads what is past opens the page where it was.
  const link = document.getElementById(history.state?.rows?.turn)?.querySelector(".prompt-head a");
  if (link && link.href !== location.href) return location.assign(link.href);
  location.reload();
});
