"""Our script in the pages of an app, put in while they stream. Pure."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import escape

from sessions.consumers.preview.headers import Headers, first
from sessions.consumers.preview.policy import let_in

SCRIPT_PATH = "/.opencode-web/preview.js"
# What that loads when somebody wants a picture of the page.
_PICTURE_PATH = "/.opencode-web/picture.js"
# After these; a page may have none of them.
_HEAD = re.compile(rb"<head(?:\s[^>]*)?>", re.IGNORECASE)
_DOCTYPE = re.compile(rb"\s*(?:<!--.*?-->\s*)*<!doctype[^>]*>", re.IGNORECASE | re.DOTALL)
# So much is looked at.
_START_BYTES = 16 * 1024
_PAGES = frozenset({b"document", b"iframe", b"frame"})


def is_page(status: int, request: Headers, response: Headers) -> bool:
    """Whether a response is a whole page that a person is going to see."""
    kind = first(response, b"content-type").partition(b";")[0].strip().lower()
    wanted = first(request, b"sec-fetch-dest")
    return (
        kind == b"text/html"
        and status not in {204, 206, 304}
        and (wanted in _PAGES if wanted else b"text/html" in first(request, b"accept"))
        and first(response, b"content-encoding").lower() in {b"", b"identity"}
    )


def tag_for(app_origin: str, nonce: str) -> bytes:
    """Returns: what brings our script into a page. It talks to pages of this server alone."""
    app = escape(app_origin)
    return f'<script src="{SCRIPT_PATH}" nonce="{nonce}" data-app="{app}"></script>'.encode()


def headers_with(headers: Headers, tag: bytes, *, origin: str, nonce: str) -> Headers:
    """Returns: the headers of a page at `origin` to which the tag is added."""
    urls = [f"{origin}{path}" for path in (SCRIPT_PATH, _PICTURE_PATH)]
    return [
        (name, str(int(value) + len(tag)).encode())
        if name == b"content-length" and value.isdigit()
        else (name, value)
        for name, value in let_in(headers, urls, nonce=nonce)
    ]


async def with_tag(chunks: AsyncIterator[bytes], tag: bytes) -> AsyncIterator[bytes]:
    """Yield a page with the tag in it, once, as early as its head has come."""
    start = b""
    async for chunk in chunks:
        start += chunk
        if _HEAD.search(start) or len(start) >= _START_BYTES:
            break
    if start:
        yield _insert(start, tag)
    async for chunk in chunks:
        yield chunk


def _insert(start: bytes, tag: bytes) -> bytes:
    found = _HEAD.search(start) or _DOCTYPE.match(start)
    at = found.end() if found else 0
    return start[:at] + tag + start[at:]
