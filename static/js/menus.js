// Menus are details elements: one is open at a time; Escape or a click elsewhere closes it.
// Escape also leaves a form that stands in for what it changes; a text that was changed stays.
// Selects and radios marked data-submit send their form when they change.
const openMenus = () => [...document.querySelectorAll("[data-menu][open]")];

// A press on its text focuses what is around it.
for (const type of ["click", "focusin"]) document.addEventListener(type, ({ target }) => openMenus().forEach((menu) => {
  if (!menu.contains(target) && (type === "click" || !target.contains(menu))) menu.open = false;
}));

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const { target } = event;
  const leave = (!target.matches("textarea") || target.value === target.defaultValue) && target.closest("form")?.querySelector("[data-escape]");
  if (!leave && !openMenus()[0]) return;
  event.preventDefault();
  leave?.click();
  openMenus().forEach((menu) => {
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}, true);

document.addEventListener("focusin", ({ target }) => target.matches("[data-select]") && target.select());

addEventListener("change", ({ target }) => target.matches("[data-submit]") && target.form.requestSubmit());
