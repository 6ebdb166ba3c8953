// The form for a comment on lines of a diff, below the last of them.

function close(row, anchor, pick) {
  row.remove();
  pick([]);
  anchor.tabIndex = -1;
  anchor.focus({ preventScroll: true });
}

/** `rows` are of one table; those that lack the side are passed over. */
export function open(rows, side, { numbersOf, pick, view }) {
  const on = rows.filter((row) => numbersOf(row)[side]);
  const last = on.at(-1);
  if (!last) return;
  const table = last.closest("table");
  const words = table.querySelector("[data-comment-form] textarea")?.value ?? "";
  table.querySelector("[data-comment-row]")?.remove();
  const row = document.createElement("tr");
  row.className = "diff-note";
  row.dataset.commentRow = "";
  const cell = row.insertCell();
  cell.colSpan = last.cells.length;
  cell.append(view.querySelector("[data-comment-template]").content.cloneNode(true));
  const form = cell.querySelector("form");
  for (const [name, value] of new URL(last.closest("[data-diff]").dataset.diff, location.href).searchParams) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name, value });
    form.append(field);
  }
  const [from, to] = [numbersOf(on[0])[side], numbersOf(last)[side]];
  form.elements.side.value = side;
  form.elements.first.value = from;
  form.elements.last.value = to;
  form.querySelector("[data-comment-lines]").textContent =
    from === to ? form.dataset.one.replace("{line}", from) : form.dataset.many.replace("{first}", from).replace("{last}", to);
  form.elements.body.value = words;
  pick(on);
  last.after(row);
  htmx.process(form);
  form.querySelector("[data-escape]").addEventListener("click", () => close(row, last, pick));
  form.elements.body.focus();
  form.scrollIntoView({ block: "nearest" });
}
