// What modules do for each page: for the one that was loaded, and for those that take its place.
const begins = [];
/** The address of this page as it came, and when the server was asked for it, in milliseconds. */
export let here = location.href;
export let askedAt = performance.timeOrigin;

/** Do it now, and again for each page that comes. */
export function eachPage(begin) {
  begins.push(begin);
  begin();
}

/** Do it just before another page comes. */
export const onLeave = (end) => addEventListener("leave", end);

/** Another page is about to come, which the server was asked for then. */
export function leave(asked) {
  dispatchEvent(new Event("leave"));
  askedAt = asked;
}

/** It is there. */
export function turn() {
  here = location.href;
  begins.forEach((begin) => begin());
}

/** The path of a page, below its team: an address has the name of that or its id. */
export const pathOf = (address) => new URL(address).pathname.replace(/\/t\/[^/]+/, "");

/** Whether the address is that of this page: after Back it is the next one's before that is there. */
export const isCurrent = () => pathOf(here) === pathOf(location);
