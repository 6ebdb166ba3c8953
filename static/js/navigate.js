// Pages of the workspace take each other's place, and are fetched ahead where a pointer rests on their
// link. Errors, the sign-in, and pages of another build, role or policy are loaded as a whole.
import { announce } from "./notify.js";
import { here, isCurrent, leave, onLeave, pathOf, turn } from "./page.js";
import { mayReplace } from "./view.js";

const REST_MS = 100;
const FRESH_MS = 30000;
const { body, documentElement } = document;
const app = document.querySelector("[data-app]");
const PLACE = /^\/(t\/[^/]+\/(inbox|board|s\/[^/]+|p\/[^/]+\/|settings\/[\w-]+)?|me\/[\w-]+)$/;
// Of the body only this is of the page, and not of the person and the team.
const OF_PAGE = ["liveProject", "thinking"];
// What was fetched, {at, text}, and what was left, {typed, top}, by address.
const ahead = new Map();
const left = new Map();
let newest = 0;
let timer = null;

const withoutHash = (address) => address.split("#")[0];
const fields = () => [...app.querySelectorAll("main :is(input:not([type=hidden], [type=password], [type=file]), textarea, select):not([data-composer] *)")];
const sheet = () => app.querySelector("main > .page");

function isTyped({ value, defaultValue, checked, defaultChecked, options }) {
  if (options) return [...options].some((option) => option.selected !== option.defaultSelected);
  return value !== defaultValue || checked !== defaultChecked;
}

function keep() {
  const typed = fields().map((field, place) => isTyped(field) && [place, field.name, field.value, field.checked]).filter(Boolean);
  left.set(withoutHash(here), { typed, top: sheet()?.scrollTop });
}

function restore({ typed, top }) {
  for (const [place, name, value, checked] of typed) {
    const field = fields()[place];
    if (field?.name === name) Object.assign(field, { value, checked });
  }
  if (top) sheet()?.scrollTo(0, top);
}

function isPlace({ origin, pathname, href }) {
  if (origin !== location.origin || pathOf(href) === pathOf(location)) return false;
  return PLACE.test(pathname.slice(body.dataset.base.length)) || [...app.querySelectorAll("[data-in-place] a")].some((link) => link.href === href);
}

function linkOf(target) {
  const link = target.closest?.("a[href]:not([download], [target], [data-whole])");
  return link && isPlace(link) ? link : null;
}

/** The text of a page; empty for what is none. */
async function fetchPage(address, more) {
  const response = await fetch(address, more);
  return response.status === 200 && !response.redirected ? response.text() : "";
}

/** Fetch a page that somebody is about to open. */
export function fetchAhead(address) {
  const at = Date.now();
  for (const [old, page] of ahead) if (at - page.at > FRESH_MS) ahead.delete(old);
  if (!ahead.has(address)) ahead.set(address, { at, text: fetchPage(address, { headers: { Purpose: "prefetch" } }).catch(() => "") });
}

async function take(address) {
  const { at, text } = ahead.get(address) ?? {};
  ahead.delete(address);
  const asked = Date.now();
  const early = asked - at < FRESH_MS && (await text);
  return { asked: early ? at : asked, text: early || (await fetchPage(address)) };
}

const hasSame = (old, { lang, dataset }) => old.lang === lang && Object.entries(dataset).every(([name, value]) => OF_PAGE.includes(name) || old.dataset[name] === value);

function read(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const files = [...page.querySelectorAll("script[src], link[rel=stylesheet]")].map((file) => file.getAttribute("src") ?? file.getAttribute("href"));
  const hasFiles = files.every((file) => document.querySelector(`[src="${file}"], [href="${file}"]`));
  return page.querySelector("[data-app]") && hasFiles && hasSame(documentElement, page.documentElement) && hasSame(body, page.body) && page;
}

function placeFocus(link) {
  const target = document.getElementById(location.hash.slice(1) || "-");
  target?.scrollIntoView();
  target?.focus();
  if (app.contains(document.activeElement)) return;
  const same = link && app.querySelector(`.app-rail [href="${CSS.escape(link)}"]`);
  (same ?? app.querySelector("[data-log]") ?? app.querySelector("main")).focus({ preventScroll: true });
}

async function put(page, { text, asked }, address, isBack) {
  keep();
  if (isBack) document.querySelectorAll("dialog[open]").forEach((one) => one.close());
  leave(asked);
  if (!isBack) history.pushState(null, "", address);
  const rail = app.querySelector("[data-rail]");
  const top = rail?.scrollTop;
  const { railState, railWidth } = app.dataset;
  // Whoever goes through the list with the keyboard stays in it.
  const link = rail?.querySelector("a:focus-visible")?.getAttribute("href");
  body.setAttribute("hx-headers:inherited", page.body.getAttribute("hx-headers:inherited"));
  for (const name of OF_PAGE) body.dataset[name] = page.body.dataset[name] ?? "";
  await htmx.swap({ target: app, text, select: "#app", swap: "outerSync", selectOOB: "#toasts:beforeend,#notices,#skips", sourceElement: app });
  Object.assign(app.dataset, rail && { railState }, rail && railWidth && { railWidth });
  app.querySelector("[data-rail]")?.scrollTo(0, top ?? 0);
  turn();
  if (isBack) restore(left.get(withoutHash(here)) ?? { typed: [] });
  placeFocus(link);
  announce(document.title);
}

/** This page stays: what is typed is for it again. */
function stay() {
  newest++;
  delete app.dataset.opening;
  dispatchEvent(new Event("handed"));
}

/** Open an address in place of this page. `isBack`: it is that of the browser's history now. */
async function visit(address, isBack) {
  if (!mayReplace(app)) {
    if (isBack) history.pushState(null, "", here);
    return stay();
  }
  const number = ++newest;
  const load = () => (isBack ? location.reload() : location.assign(address));
  app.dataset.opening = "";
  const found = await take(withoutHash(address)).catch(() => null);
  // Somebody has gone elsewhere since.
  if (number !== newest) return;
  if (!found && !isBack) {
    stay();
    return (await import("./refused.js")).lose();
  }
  delete app.dataset.opening;
  const page = found?.text && read(found.text);
  if (!page) return load();
  try {
    await put(page, found, address, isBack);
  } catch (error) {
    load();
    throw error;
  }
}

addEventListener("click", (event) => {
  const link = linkOf(event.target);
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  visit(link.href);
});

const goBack = () => visit(location.href, true);
// Entries of one page are its panel's.
addEventListener("popstate", () => (isCurrent() ? stay() : goBack()));
// A reload keeps the entries before it.
if (!isCurrent()) goBack();
// A form may lead to one: the first message of a session does.
document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
  const url = ctx.hx.redirect && new URL(ctx.hx.redirect, location);
  if (!url || !isPlace(url)) return;
  delete ctx.hx.redirect;
  ctx.swap = "none";
  visit(url.href);
});
onLeave(() => clearTimeout(timer));
// What is done may change any page.
document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => ctx.request.method !== "GET" && ahead.clear());

function rest({ target }) {
  clearTimeout(timer);
  const link = linkOf(target);
  if (link && !link.closest("[data-menu]")) timer = setTimeout(fetchAhead, REST_MS, withoutHash(link.href));
}
addEventListener("pointerover", rest);
// The pointer whose move has brought this may rest already.
rest({ target: [...document.querySelectorAll(":hover")].at(-1) ?? body });
documentElement.dataset.goes = "";
addEventListener("pointerdown", ({ target }) => linkOf(target) && fetchAhead(withoutHash(linkOf(target).href)));
