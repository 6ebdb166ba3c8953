// In the pages of an app that is previewed: says where it is, and shows an element or a picture of
// itself to the page around it when that asks. It does nothing elsewhere, and nothing by itself.
(() => {
  const around = window.parent;
  const { app } = document.currentScript.dataset;
  if (around === window || around !== window.top) return;

  const MAX_HTML = 4000;
  const MAX_TEXT = 500;
  const HINTS = ["data-source", "data-source-file", "data-inspector-relative-path", "data-inspector-line", "data-v-inspector", "data-astro-source-file", "data-astro-source-loc"];
  const say = (body) => around.postMessage({ preview: 1, ...body }, app);
  const here = () => say({ kind: "here", path: location.pathname + location.search + location.hash, title: document.title });
  const short = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

  function selectorOf(element) {
    const steps = [];
    for (let at = element; at instanceof Element && at !== document.documentElement; at = at.parentElement) {
      if (at.id) {
        steps.unshift(`#${CSS.escape(at.id)}`);
        break;
      }
      const same = [...(at.parentElement?.children ?? [])].filter((one) => one.tagName === at.tagName);
      steps.unshift(at.localName + (same.length > 1 ? `:nth-of-type(${same.indexOf(at) + 1})` : ""));
    }
    return steps.join(" > ") || "html";
  }

  /** Where dev servers say that an element was written. */
  function sourceOf(element) {
    for (let at = element; at; at = at.parentElement) {
      const hint = HINTS.map((name) => at.getAttribute(name)).filter(Boolean).join(":");
      if (hint) return hint;
      const fiber = at[Object.keys(at).find((key) => key.startsWith("__reactFiber$"))];
      const source = fiber?._debugSource;
      if (source) return `${source.fileName}:${source.lineNumber}`;
      const file = at.__svelte_meta?.loc ?? at.__vueParentComponent?.type?.__file;
      if (file) return file.file ? `${file.file}:${file.line}` : String(file);
    }
    return "";
  }

  function describe(element) {
    const { x, y, width, height } = element.getBoundingClientRect();
    return {
      kind: "picked",
      path: location.pathname + location.search,
      selector: selectorOf(element),
      source: short(sourceOf(element), MAX_TEXT),
      html: short(element.outerHTML, MAX_HTML),
      text: short((element.innerText ?? "").trim().replace(/\s+/g, " "), MAX_TEXT),
      box: [x, y, width, height].map(Math.round),
    };
  }

  let stop = null;
  function pick() {
    stop?.();
    const outline = document.createElement("div");
    const style = { position: "fixed", zIndex: 2147483647, pointerEvents: "none", border: "2px solid #4466ea", background: "rgba(68, 102, 234, 0.15)", borderRadius: "2px", boxSizing: "border-box" };
    Object.assign(outline.style, style);
    document.documentElement.append(outline);
    let target = null;
    const ended = new AbortController();
    const on = (type, take) => window.addEventListener(type, take, { capture: true, signal: ended.signal });
    function mark(element) {
      if (!element || element === outline) return;
      target = element;
      const { x, y, width, height } = target.getBoundingClientRect();
      Object.assign(outline.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    }
    const swallow = (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    on("pointermove", ({ clientX, clientY }) => mark(document.elementFromPoint(clientX, clientY)));
    for (const type of ["pointerdown", "pointerup", "mousedown", "mouseup"]) on(type, swallow);
    on("click", (event) => {
      swallow(event);
      mark(document.elementFromPoint(event.clientX, event.clientY));
      const found = target && describe(target);
      stop();
      say(found ?? { kind: "unpicked" });
    });
    on("keydown", (event) => {
      if (event.key !== "Escape") return;
      swallow(event);
      stop();
      say({ kind: "unpicked" });
    });
    stop = () => {
      ended.abort();
      outline.remove();
      stop = null;
    };
  }

  let library = null;
  async function picture() {
    library ??= new Promise((done, failed) => {
      const script = Object.assign(document.createElement("script"), { src: "/.opencode-web/picture.js", onload: done, onerror: failed });
      document.head.append(script);
    });
    try {
      await library;
      const { innerWidth: width, innerHeight: height, scrollX, scrollY } = window;
      const backgroundColor = [document.body, document.documentElement].map((one) => getComputedStyle(one).backgroundColor).find((one) => one !== "rgba(0, 0, 0, 0)") ?? "#ffffff";
      const style = { transform: `translate(${-scrollX}px, ${-scrollY}px)`, transformOrigin: "0 0" };
      const blob = await window.modernScreenshot.domToBlob(document.documentElement, { width, height, style, backgroundColor, type: "image/png" });
      say({ kind: "picture", blob });
    } catch {
      library = null;
      say({ kind: "no-picture" });
    }
  }

  const failed = (text) => say({ kind: "error", text: short(String(text), MAX_TEXT) });
  window.addEventListener("error", ({ message, filename, lineno }) => message && failed(filename ? `${message} (${filename}:${lineno})` : message));
  window.addEventListener("unhandledrejection", ({ reason }) => failed(reason?.stack ?? reason));
  const { error } = console;
  console.error = (...words) => {
    failed(words.map((word) => (word instanceof Error ? (word.stack ?? word.message) : String(word))).join(" "));
    error.apply(console, words);
  };

  const acts = { pick, unpick: () => stop?.(), picture, reload: () => location.reload(), back: () => history.back() };
  window.addEventListener("message", ({ source, origin, data }) => {
    if (source === around && origin === app && data?.preview === 1 && Object.hasOwn(acts, data.kind)) acts[data.kind]();
  });
  document.addEventListener("DOMContentLoaded", here);
  for (const type of ["load", "pageshow", "popstate", "hashchange"]) window.addEventListener(type, here);
  for (const name of ["pushState", "replaceState"]) {
    const known = history[name];
    history[name] = function (...given) {
      known.apply(this, given);
      here();
    };
  }
})();
