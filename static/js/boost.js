// Settings pages replace each other. Errors, the sign-in, another build or role are loaded as a whole.
const { body, documentElement } = document;
const app = document.querySelector("[data-app]");
// What was typed and not sent, by its page's address.
const typed = new Map();
let here = location.href;
let isBack = false;
let newest = null;

const isOurs = (ctx) => ctx.target === app;
const isReturn = ({ request }) => "HX-History-Restore-Request" in request.headers;
const fields = () => [...app.querySelectorAll("main :is(input:not([type=hidden], [type=password], [type=file]), textarea, select)")];

function isTyped({ value, defaultValue, checked, defaultChecked, options }) {
  if (options) return [...options].some((option) => option.selected !== option.defaultSelected);
  return value !== defaultValue || checked !== defaultChecked;
}

function typeAgain([place, name, value, checked]) {
  const field = fields()[place];
  if (field?.name === name) Object.assign(field, { value, checked });
}

function begin() {
  const nav = app.querySelector("[data-boost]");
  nav.setAttribute("hx-boost:inherited", 'target:"#app" select:"#app" swap:outerSync selectOOB:"#toasts:beforeend"');
  // Who clicks again wants the last one only.
  nav.setAttribute("hx-sync:inherited", "closest nav:replace");
  return nav;
}

function loadWhole(event) {
  const { ctx } = event.detail;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (isReturn(ctx)) location.reload();
  else location.assign(ctx.request.action);
}

const hasSame = (old, { lang, dataset }) => old.lang === lang && Object.entries(dataset).every(([name, value]) => old.dataset[name] === value);

function read(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  return page.querySelector("[data-boost]") && hasSame(documentElement, page.documentElement) && hasSame(body, page.body) && page;
}

document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
  if (!isOurs(ctx)) return;
  newest = ctx;
  // Asked for as browsers ask: htmx is given parts of pages.
  delete ctx.request.headers["HX-Request"];
  if (new URL(ctx.request.action, here).href === here) ctx.replace = "true";
});

document.addEventListener("htmx:before:response", (event) => {
  const { raw } = event.detail.ctx.response;
  if (isOurs(event.detail.ctx) && (raw.status !== 200 || raw.redirected)) loadWhole(event);
}, true);

document.addEventListener("htmx:after:request", (event) => {
  const { ctx } = event.detail;
  if (!isOurs(ctx)) return;
  // Somebody has gone elsewhere since.
  if (ctx !== newest) return event.preventDefault();
  const page = read(ctx.text);
  if (!page) return loadWhole(event);
  body.setAttribute("hx-headers:inherited", page.body.getAttribute("hx-headers:inherited"));
  typed.set(here, fields().map((field, place) => isTyped(field) && [place, field.name, field.value, field.checked]).filter(Boolean));
  isBack = isReturn(ctx);
});

// An address whose page did not come is no place to be.
document.addEventListener("htmx:error", ({ detail: { ctx } }) => ctx && isOurs(ctx) && isReturn(ctx) && location.reload());

document.addEventListener("htmx:after:settle", ({ target }) => {
  if (target !== app) return;
  here = location.href;
  if (isBack) typed.get(here)?.forEach(typeAgain);
  if (app.querySelector("[data-record]")) import("./record.js");
  begin();
});

htmx.process(begin());
