// One websocket on one terminal: it comes back with its place, and says what it has taken.
import { headers } from "./taste.js";

const TAKEN_UNITS = 32768;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const ptyAddress = (id) => `${document.body.dataset.base}/pty/${id}`;

async function ticketOf(id, watching) {
  const answer = await fetch(`${ptyAddress(id)}/connect-token?watch=${watching}`, {
    method: "POST",
    headers: { ...headers(), "x-opencode-ticket": "1" },
  });
  if (answer.ok) return (await answer.json()).ticket;
  // It is gone or no longer ours; anything else is temporary.
  throw Object.assign(new Error(String(answer.status)), { final: answer.status < 500 && answer.status !== 429 });
}

/** Keep a terminal connected. `on`: {text(text, done), skipped(), size(rows, cols), state(name, seconds), over()}. */
export function connectLine(id, watching, on) {
  let socket = null;
  let cursor = 0;
  let unsaid = 0;
  let attempts = 0;
  let timer = null;
  let stopped = false;

  function taken(units) {
    unsaid += units;
    if (unsaid < TAKEN_UNITS || socket?.readyState !== WebSocket.OPEN) return;
    socket.send(encoder.encode(`\0${JSON.stringify({ taken: unsaid })}`));
    unsaid = 0;
  }

  function receive({ data }) {
    if (typeof data === "string") {
      cursor += data.length;
      return on.text(data, () => taken(data.length));
    }
    const said = JSON.parse(decoder.decode(new Uint8Array(data, 1)));
    if (said.rows) return on.size(said.rows, said.cols);
    if (said.cursor > cursor && cursor) on.skipped();
    cursor = said.cursor;
    attempts = 0;
    on.state("live");
  }

  function again() {
    if (stopped) return;
    const wait = Math.min(500 * 2 ** attempts++, 5000) * (0.75 + Math.random() / 2);
    on.state("lost", Math.ceil(wait / 1000));
    timer = setTimeout(open, wait);
  }

  function closed({ code }) {
    socket = null;
    if (stopped) return;
    if (code === 1000 || (code > 4400 && code < 4500)) return finish();
    again();
  }

  function finish() {
    stopped = true;
    on.over();
  }

  async function open() {
    let ticket = "";
    try {
      ticket = await ticketOf(id, watching);
    } catch (error) {
      return error.final ? finish() : again();
    }
    if (stopped) return;
    const url = new URL(`${ptyAddress(id)}/connect`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.search = new URLSearchParams({ cursor, ticket, counts: 1, ...(watching ? { watch: 1 } : {}) });
    unsaid = 0;
    socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onmessage = receive;
    socket.onclose = closed;
  }

  on.state("connecting");
  open();
  return {
    send: (text) => socket?.readyState === WebSocket.OPEN && socket.send(text),
    stop() {
      stopped = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}
