/** No time zone is chosen yet: offer that of this device. */
export function choose() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const own = document.querySelector(`[data-own-zone] [value="${timeZone}"]`);
  if (own) own.selected = true;
}
