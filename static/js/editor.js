// The editor of the files pane: CodeMirror in place of the form's text fields.
import { fetchFragment } from "./fragment.js";
import { make } from "./make.js";
import { headers } from "./taste.js";
import { _ } from "./words.js";

// Two texts beside each other need this many pixels.
const MIN_WIDTH = 600;

const phrases = () => ({
  "Find": _("Find"),
  "Replace": _("Replace"),
  "next": _("Next match"),
  "previous": _("Previous match"),
  "all": _("Select all matches"),
  "match case": _("Match case"),
  "regexp": _("Regular expression"),
  "by word": _("Whole words"),
  "replace": _("Replace"),
  "replace all": _("Replace all"),
  "close": _("Close"),
  "current match": _("current match"),
  "on line": _("on line"),
  "replaced match on line $": _("Replaced the match on line $"),
  "replaced $ matches": _("Replaced $ matches"),
});

const indentOf = (text) => (/^\t/m.test(text) ? "\t" : " ".repeat(/^ {2}\S/m.test(text) ? 2 : 4));

const button = (text) => make("button", { type: "button", className: "button" }, text);

function mount(cm, host, { name, path, mine, newer, onUpdate }) {
  const shared = [
    cm.basicSetup,
    // Enter is a new line and takes no suggestion. Ctrl+Space asks for some.
    cm.autocompletion({ activateOnTyping: false }),
    cm.keymap.of([cm.indentWithTab]),
    cm.indentUnit.of(indentOf(mine)),
    cm.syntaxHighlighting(cm.classHighlighter),
    cm.languageOf(name),
    cm.EditorState.phrases.of(phrases()),
  ];
  const named = (label) => cm.EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": "file-edit-hint", tabindex: "0" });
  // When comparing, a long line must not push the buttons out of sight.
  if (newer !== undefined) shared.push(cm.EditorView.lineWrapping);
  const own = [...shared, named(path), cm.EditorView.updateListener.of(onUpdate)];
  if (newer === undefined) return new cm.EditorView({ doc: mine, extensions: own, parent: host });
  if (host.clientWidth < MIN_WIDTH) {
    const names = { accept: _("Keep mine"), reject: _("Take newer") };
    const mergeControls = (kind, onclick) => Object.assign(button(names[kind]), { onmousedown: onclick, onclick: (event) => event.detail || onclick(event) });
    return new cm.EditorView({ doc: mine, extensions: [...own, cm.unifiedMergeView({ original: newer, mergeControls })], parent: host });
  }
  const names = [_("Newer version"), _("My version")].map((text) => make("span", {}, text));
  host.append(make("div", { className: "file-editor-names meta", ariaHidden: "true" }, ...names));
  const renderRevertControl = () => Object.assign(button("→"), { title: _("Take newer"), ariaLabel: _("Take newer") });
  const a = { doc: newer, extensions: [...shared, named(_("Newer version")), cm.EditorState.readOnly.of(true)] };
  return new cm.MergeView({ a, b: { doc: mine, extensions: own }, parent: host, revertControls: "a-to-b", renderRevertControl }).b;
}

function linesOf({ doc, selection }) {
  const { from, to, empty } = selection.main;
  if (empty) return "";
  const [first, last] = [doc.lineAt(from), doc.lineAt(to)].map((line) => line.number);
  // A selection that ends before the first character of a line has nothing of that line.
  const end = last > first && doc.lineAt(to).from === to ? last - 1 : last;
  return end > first ? `${first}-${end}` : `${first}`;
}

async function send(form) {
  const page = await fetchFragment(form.action, { method: "POST", headers: headers(), body: new FormData(form) });
  if (!page) return { said: _("The server cannot be reached.") };
  return { ok: page.ok, came: page.body.querySelector("#file-edit"), said: page.body.textContent.trim() };
}

/** Make an editor of the form. `line` is where to begin; `search`: with the search open. */
export async function edit(form, { line, search } = {}) {
  const cm = await import(form.dataset.fileEdit);
  const [area, newer, fault, state, stale] = ["text", "newer", "fault", "state", "stale"].map((name) => form.querySelector(`[data-edit-${name}]`));
  const { path } = form.dataset;
  const texts = area.closest(".file-edit-texts");
  const host = make("div", { className: "file-editor" });
  texts.hidden = true;
  texts.after(host);
  // Of a file that was deleted nothing is saved.
  let saved = form.querySelector("[data-discards]") ? newer?.value : area.value;
  const onUpdate = ({ state: now, docChanged, selectionSet }) => {
    if (docChanged) {
      form.toggleAttribute("data-unsaved", saved === undefined || !now.doc.eq(now.toText(saved)));
      state.textContent = "unsaved" in form.dataset ? _("Not saved") : "";
    }
    if (selectionSet) form.dataset.lines = linesOf(now);
  };
  const view = mount(cm, host, { name: path.split("/").at(-1), path, mine: area.value, newer: newer?.value, onUpdate });
  form.dataset.mounted = "";
  if (saved !== area.value) form.dataset.unsaved = "";
  if (line) view.dispatch({ selection: { anchor: view.state.doc.line(Math.min(line, view.state.doc.lines)).from }, scrollIntoView: true });
  view.focus();
  if (search) cm.openSearchPanel(view);

  async function save() {
    if (form.ariaBusy) return;
    form.ariaBusy = "true";
    area.value = view.state.doc.toString();
    const { ok, came, said } = await send(form);
    form.ariaBusy = null;
    fault.hidden = true;
    if (ok && came) {
      saved = area.value;
      form.elements.digest.value = came.elements.digest.value;
      form.toggleAttribute("data-unsaved", view.state.doc.toString() !== saved);
      state.textContent = _("Saved");
      // The review is told; its other readers see it with the next change.
      document.getElementById("changes-mark").setAttribute("data-saved", form.elements.digest.value);
      if (form.querySelector("[data-discards]")) again(came);
    } else if (came?.querySelector("[data-discards]")) again(came);
    else {
      fault.hidden = false;
      fault.textContent = came?.querySelector("[data-edit-fault]").textContent || said.slice(0, 300) || _("The server sent an unexpected response.");
    }
  }

  function again(came) {
    form.replaceWith(came);
    edit(came);
  }

  // Who goes on typing is told that somebody else has written the file.
  const watch = new MutationObserver(async () => {
    if (!form.isConnected) return watch.disconnect();
    const page = await fetchFragment(form.action);
    stale.hidden = !page || form.ariaBusy || page.body.querySelector("[name=digest]")?.value === form.elements.digest.value;
  });
  watch.observe(document.getElementById("changes-mark"), { attributes: true });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  form.addEventListener("click", ({ target }) => target.closest("[data-edit-find]") && cm.openSearchPanel(view));
  form.addEventListener("keydown", (event) => {
    // It is the editor's own, and closes no panel.
    if (event.key === "Escape") event.stopPropagation();
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    save();
  });
}

addEventListener("beforeunload", (event) => document.querySelector("[data-unsaved]") && event.preventDefault());
