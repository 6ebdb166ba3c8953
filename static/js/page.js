// What modules do for each page: for the one that was loaded, and for those that take its place.
const begins = [];

/** Do it now, and again for each page that comes. */
export function eachPage(begin) {
  begins.push(begin);
  begin();
}

/** Do it just before another page comes. */
export const onLeave = (end) => document.addEventListener("leave", end);

/** Another page is there. */
export const turn = () => begins.forEach((begin) => begin());
