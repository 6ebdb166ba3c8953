// Files of a message: chosen, pasted or dropped. They lie in the form's own field until it is sent.
import { form, place as goOn } from "./idle.js";
import { make } from "./make.js";
import { announce } from "./notify.js";
import { onLeave } from "./page.js";
import { upload } from "./upload.js";
import { _ } from "./words.js";

const MAX_FILES = 20;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const MAX_CHARS = 5 * 1024 * 1024;
const MAX_BYTES = 24 * 1024 * 1024;
const DROP_MS = 200;
const BUTTON = { type: "button", className: "button button-quiet" };
let held = [];
let over = null;
const field = () => document.querySelector("[data-files]");

function size(bytes) {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function put(files) {
  const carried = new DataTransfer();
  files.forEach((file) => carried.items.add(file));
  field().files = carried.files;
  draw();
}

// Of an animation the rest would be lost.
const DRAWABLE = /^image\/(png|jpeg|webp)$/;

function drawButton(file) {
  const onclick = async () => {
    const drawn = await (await import("./draw.js")).draw(file);
    if (drawn) put([...field().files].map((one) => (one === file ? drawn : one)));
    goOn();
  };
  return make("button", { ...BUTTON, onclick, ariaLabel: _("Draw on {name}", { name: file.name }) }, _("Draw"));
}

function chip(file, place) {
  const item = make("li", { className: "chip attached-file" });
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) {
    const picture = make("img", { alt: "" });
    const reader = new FileReader();
    reader.onload = () => (picture.src = reader.result);
    reader.readAsDataURL(file);
    item.append(picture);
  }
  const onclick = () => {
    put([...field().files].filter((_, other) => other !== place));
    announce(_("{name} removed.", { name: file.name }));
    goOn();
  };
  item.append(make("span", {}, `${file.name} · ${size(file.size)}`));
  if (DRAWABLE.test(file.type)) item.append(drawButton(file));
  item.append(make("button", { ...BUTTON, onclick, ariaLabel: _("Remove {name}", { name: file.name }) }, "×"));
  return item;
}

// How the files begin that models are shown as they are.
const KINDS = { image: /^(\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}WEBP)/, pdf: /^%PDF-/ };
const checked = new WeakMap();
const kinds = new WeakMap();

async function faultOf(file) {
  const { name } = file;
  if (file.size > MAX_FILE_BYTES) return _("{name} is too large: a file can have at most 20 MB.", { name });
  if (!file.size) return _("{name} is empty.", { name });
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const start = String.fromCharCode(...bytes.subarray(0, 16));
    const kind = Object.keys(KINDS).find((one) => KINDS[one].test(start));
    if (kind) {
      kinds.set(file, kind);
      return "";
    }
    const { length } = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return length > MAX_CHARS ? _("{name} is too long: the texts of a message can have at most 400,000 characters. Add it to the project and mention it with @.", { name }) : "";
  } catch (error) {
    if (error instanceof TypeError) return _("{name} is not text, a PDF or a PNG, JPEG, GIF or WebP image, so agents cannot read it.", { name });
    return _("{name} cannot be read from this device.", { name });
  }
}

async function faultsOf(files) {
  const faults = [];
  const kept = [];
  let sum = 0;
  for (const file of files) {
    if (!checked.has(file)) checked.set(file, await faultOf(file));
    const fault = checked.get(file)
      || (kept.length === MAX_FILES && _("{name} was not added: a message can have at most 20 files.", { name: file.name }))
      || (sum + file.size > MAX_BYTES && _("{name} was not added: the files of a message can have at most 24 MB together.", { name: file.name }));
    if (fault) faults.push(fault);
    else kept.push(file) && (sum += file.size);
  }
  return { faults, kept };
}

function say(place, text) {
  const line = document.querySelector(`[data-attach-${place}]`);
  line.hidden = !text;
  line.querySelector("span").textContent = text;
}
const tell = (faults) => say("fault", faults.join(" "));

function note() {
  const option = form().elements.model?.selectedOptions[0];
  const reads = option?.dataset.reads?.split(" ");
  const unread = new Set(reads ? held.map((file) => kinds.get(file)).filter((kind) => kind && !reads.includes(kind)) : []);
  const values = { model: option?.label };
  let said = "";
  if (unread.size > 1) said = _("{model} can't read images and PDF files. It only gets the file names.", values);
  else if (unread.has("image")) said = _("{model} can't read images. It only gets the file name.", values);
  else if (unread.has("pdf")) said = _("{model} can't read PDF files. It only gets the file name.", values);
  say("note", said);
}

/** More was chosen: the field has only that. */
export function show() {
  tell([]);
  const isHeld = (file) => held.some((one) => ["name", "size", "lastModified"].every((key) => one[key] === file[key]));
  put([...held, ...[...field().files].filter((file) => !isHeld(file))]);
}

async function draw() {
  const all = [...field().files];
  const { faults, kept } = await faultsOf(all);
  // Somebody was quicker.
  if (all.some((file, place) => field().files[place] !== file)) return;
  if (faults.length) {
    put(kept);
    return tell(faults);
  }
  const list = document.querySelector("[data-attached]");
  list.replaceChildren(...kept.map(chip));
  list.hidden = !kept.length;
  held = kept;
  note();
}

/** Add to what is attached. */
export function attach(files) {
  tell([]);
  put([...field().files, ...files]);
  announce(_("Attached files: {count}", { count: field().files.length }));
}

function showZone(on) {
  clearTimeout(over);
  form().toggleAttribute("data-drop", on);
  if (on) over = setTimeout(() => showZone(false), DROP_MS);
}

/** Files are held over the page: said anew for as long as they are. */
export const dragover = () => showZone(true);

/** Files were let go over the page. */
export function drop(files) {
  showZone(false);
  attach(files);
}

addEventListener("change", ({ target }) => target.matches("[data-composer] select[name=model]") && note());

onLeave(() => (held = []));

// A refused message comes back as a new form, which cannot hold the files by itself.
document.addEventListener("htmx:after:swap", () => {
  if (held.length && field() && !field().files.length) put(held);
});

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches("[data-composer]") && field().files.length) ctx.fetch = upload;
});

document.addEventListener("htmx:after:request", (event) => {
  const { sourceElement, response } = event.detail.ctx;
  if (!sourceElement.matches("[data-composer]") || !sourceElement.isConnected || response.status >= 300) return;
  tell([]);
  put([]);
});
