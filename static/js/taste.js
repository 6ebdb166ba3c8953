// How a person likes the page: their account keeps it.

export const headers = () => JSON.parse(document.body.getAttribute("hx-headers:inherited"));

/** Send values to an address that keeps them. Failures are ignored. */
export function save(url, values) {
  fetch(url, { method: "POST", headers: { ...headers(), "HX-Request": "true" }, body: new URLSearchParams(values), keepalive: true }).catch(() => {});
}

/** An edge is drawn with the pointer: `move` with each step, `end` at the last. */
export function drag(event, move, end) {
  const { target: edge, pointerId } = event;
  event.preventDefault();
  edge.setPointerCapture(pointerId);
  edge.onpointermove = move;
  edge.onpointerup = edge.onpointercancel = () => end((edge.onpointermove = edge.onpointerup = edge.onpointercancel = null));
}
