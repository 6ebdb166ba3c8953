// The upload of a message with files: its progress, and how to cancel it.
import { form, prompt } from "./idle.js";
import { announce } from "./notify.js";
import { _ } from "./words.js";

const mega = (bytes) => (bytes / 1024 / 1024).toFixed(1);
let way = null;

function show({ loaded = 0, total = 0 }) {
  const bar = form().querySelector("[data-sending]");
  if (total) [bar.max, bar.value] = [total, loaded];
  else bar.removeAttribute("value");
  form().querySelector("[data-sent]").textContent = total ? _("{sent} of {all} MB", { sent: mega(loaded), all: mega(total) }) : "";
}

const canStop = (is) => (form().querySelector("[data-sending-stop]").hidden = !is);

/** Like `fetch`, with progress. Raises: TypeError without a connection; AbortError. */
export function upload(action, { method, headers, body, signal }) {
  const request = (way = new XMLHttpRequest());
  return new Promise((resolve, reject) => {
    request.open(method, action);
    Object.entries(headers).forEach(([name, value]) => request.setRequestHeader(name, value));
    request.upload.onprogress = show;
    // What has arrived is taken: from now on it can only be stopped like any message.
    request.upload.onload = () => canStop(false);
    request.onload = () => {
      const headers = request.getAllResponseHeaders().trim().split("\r\n").map((line) => line.split(/: (.*)/, 2));
      const text = request.status === 204 ? null : request.responseText;
      resolve(new Response(text, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError(_("The server cannot be reached.")));
    request.onabort = () => reject(new DOMException("", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    show({});
    canStop(true);
    request.send(body);
  });
}

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-sending-stop]")) return;
  way?.abort();
  announce(_("Not sent. Your message and its files are still here."));
  prompt().focus();
});
