// No time zone is chosen yet.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const own = document.querySelector(`[data-own-zone] [value="${timeZone}"]`);
if (own) own.selected = true;
