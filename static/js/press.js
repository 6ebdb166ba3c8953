// By itself: modules must not import in a ring.

/** Click it, also in a menu that is closed. */
export function press(item) {
  if (!item.matches("summary")) return item.click();
  // What unfolds is in sight then.
  for (let part = item.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  item.scrollIntoView({ block: "nearest" });
  item.focus();
}
