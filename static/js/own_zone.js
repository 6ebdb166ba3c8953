// A time zone that nobody has chosen yet begins as that of the browser.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const select of document.querySelectorAll("[data-own-zone]"))
  if ([...select.options].some((option) => option.value === zone)) select.value = zone;
