// Menus are details elements: one is open at a time, and Escape or a click elsewhere closes it.
// Selects and radios marked data-submit send their form when they change.
const openMenus = () => [...document.querySelectorAll("[data-menu][open]")];

document.addEventListener("click", (event) => {
  const inside = event.target.closest("[data-menu]");
  openMenus().filter((menu) => menu !== inside).forEach((menu) => (menu.open = false));
});

document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || openMenus().length === 0) return;
    event.preventDefault();
    openMenus().forEach((menu) => {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  },
  true,
);

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
});
