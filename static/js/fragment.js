/**
 * Ask for a part of a page. Returns: its text, its body, and whether it is no error or sign-in page;
 * null where the server cannot be reached.
 */
export async function fetchFragment(url, { headers, ...more } = {}) {
  try {
    const response = await fetch(url, { ...more, headers: { ...headers, "HX-Request": "true" } });
    const text = await response.text();
    return { ok: response.ok && !response.redirected, text, body: new DOMParser().parseFromString(text, "text/html").body };
  } catch {
    return null;
  }
}
