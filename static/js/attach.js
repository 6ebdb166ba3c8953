// Files of a message: chosen, pasted or dropped. They lie in the form's own field until it is sent.
import { announce, toast } from "./notify.js";

const MAX_FILE_BYTES = 20 * 1024 * 1024;
const MAX_BYTES = 24 * 1024 * 1024;
const field = () => document.querySelector("[data-files]");

function size(bytes) {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function put(files) {
  const held = new DataTransfer();
  files.forEach((file) => held.items.add(file));
  field().files = held.files;
  show();
}

function chip(file, place) {
  const item = document.createElement("li");
  item.className = "chip attached-file";
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) {
    const picture = document.createElement("img");
    picture.alt = "";
    const reader = new FileReader();
    reader.onload = () => (picture.src = reader.result);
    reader.readAsDataURL(file);
    item.append(picture);
  }
  const name = document.createElement("span");
  name.textContent = `${file.name} · ${size(file.size)}`;
  const remove = document.createElement("button");
  Object.assign(remove, { type: "button", className: "button button-quiet", textContent: "×", ariaLabel: `Remove ${file.name}` });
  remove.onclick = () => {
    put([...field().files].filter((_, other) => other !== place));
    announce(`${file.name} removed.`);
    document.querySelector("[data-prompt]").focus();
  };
  item.append(name, remove);
  return item;
}

/** Show what is attached, without what is too large. */
export function show() {
  const all = [...field().files];
  let sum = 0;
  const kept = all.filter((file) => file.size <= MAX_FILE_BYTES && (sum += file.size) <= MAX_BYTES);
  if (kept.length < all.length) {
    toast(`Too large: ${all.filter((file) => !kept.includes(file)).map((file) => file.name).join(", ")}. A file has at most 20 MB, all of a message 24 MB.`, "bad");
    return put(kept);
  }
  const list = document.querySelector("[data-attached]");
  list.replaceChildren(...kept.map(chip));
  list.hidden = !kept.length;
}

/** Add to what is attached. */
export function attach(files) {
  put([...field().files, ...files]);
  announce(`${field().files.length} files attached.`);
}

const isOver = (event) => event.target.closest?.("[data-composer]") && event.dataTransfer.types.includes("Files");

document.addEventListener("dragover", (event) => {
  if (isOver(event)) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  if (!isOver(event)) return;
  event.preventDefault();
  attach([...event.dataTransfer.files]);
});
document.addEventListener("htmx:after:request", (event) => {
  const { sourceElement, response } = event.detail.ctx;
  if (sourceElement.matches("[data-composer]") && response.status < 300) put([]);
});
