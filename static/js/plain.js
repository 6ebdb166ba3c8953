// The same frames over plain HTTP. A response lasts half a minute.

async function read(address, take, signal) {
  const response = await fetch(address, { headers: { Accept: "text/event-stream" }, signal });
  if (response.status === 401) return 4401;
  if (response.status === 404) return Number(await response.text()) || 4404;
  if (!response.ok) return 0;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return 0;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      const frame = data && JSON.parse(data);
      if (frame?.k === "bye") return frame.code;
      if (frame) take(frame);
    }
  }
}

/** Returns: what can be closed, like a socket. */
export function openPlain(address, { take, closed }) {
  const stop = new AbortController();
  const source = { isPlain: true, close: () => stop.abort() };
  read(address, (frame) => take(frame, source), stop.signal).then(
    (code) => closed(source, code),
    () => closed(source, 0),
  );
  return source;
}
