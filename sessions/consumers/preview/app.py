"""What is answered at the host of a preview."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import httpcore
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import Error as DatabaseFault
from django.template.loader import render_to_string
from django.utils import translation

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, Conflict
from opencode_web.lib.sockets import counted_socket
from sessions.actions.previews import Visit, take_ticket
from sessions.consumers.preview.admission import admit, is_from, until_refused
from sessions.consumers.preview.connections import MAX_CONNECTIONS, open_stream
from sessions.consumers.preview.forward import Cut, forward
from sessions.consumers.preview.headers import own_cookie_name
from sessions.consumers.preview.race import first_of
from sessions.consumers.preview.upgrade import TooMuchWaiting, Upgrade
from sessions.previews.origin import keeps_secure_cookies, origin_of
from sessions.stream.rights import COME_BACK, FORBIDDEN

logger = logging.getLogger(__name__)

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

OWN_PATH = "/.opencode-web/"
# Below `static`, with their types.
_FILES = {
    "preview.js": ("preview/preview.js", "text/javascript"),
    "picture.js": ("vendor/modern-screenshot-4.7.0/index.js", "text/javascript"),
    "page.css": ("preview/page.css", "text/css"),
}
_URL_CHARS = "/%?#[]@!$&'()*+,;=:~"
_PAGE_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'"


# Websockets that are open in this process, by preview.
_open: Counter[str] = Counter()


async def serve_preview(label: str, scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer a request for the host of a preview."""
    if scope["type"] == "websocket":
        with counted_socket():
            await _websocket(label, scope, receive, send)
    else:
        await _http(label, scope, receive, send)


async def _websocket(label: str, scope: dict[str, Any], receive: Receive, send: Send) -> None:
    await receive()
    try:
        visit = await admit(label, scope["headers"])
    except (AppError, DatabaseFault):
        visit = None
    if (
        visit is None
        or not is_from(scope, origin_of(label, visit.app_origin))
        or _open[label] >= MAX_CONNECTIONS
    ):
        # Before it is accepted this is an answer with 403.
        await send({"type": "websocket.close", "code": FORBIDDEN})
        return
    _open[label] += 1
    try:
        await _pass_on(scope, receive, send, visit)
    finally:
        _open[label] -= 1
        if not _open[label]:
            del _open[label]


async def _pass_on(scope: dict[str, Any], receive: Receive, send: Send, visit: Visit) -> None:
    code = COME_BACK
    try:
        stream = await open_stream(visit.terminal_id, visit.port)
        try:
            upgrade = Upgrade(scope, visit, stream)
            protocol = await upgrade.open()
            await send({"type": "websocket.accept", "subprotocol": protocol, "headers": []})
            refusal = await _unless_refused(upgrade.serve(receive, send), scope, visit)
            if refusal is None:
                return
            code = FORBIDDEN
        finally:
            await stream.aclose()
    except (OSError, httpcore.NetworkError, TooMuchWaiting) as exc:
        logger.debug("preview.socket_ended terminal=%s %s", visit.terminal_id, exc)
    await send({"type": "websocket.close", "code": code})


async def _unless_refused(
    work: Coroutine[None, None, AppError | None], scope: dict[str, Any], visit: Visit
) -> AppError | None:
    """Do the work for as long as the visit is allowed. Returns: why it is not any more."""
    return await first_of(work, until_refused(visit.label, scope["headers"]))


async def _http(label: str, scope: dict[str, Any], receive: Receive, send: Send) -> None:
    path = scope["path"]
    if path.startswith(OWN_PATH):
        await _own_file(label, path.removeprefix(OWN_PATH), scope, send)
        return
    started = False

    async def note(message: dict[str, Any]) -> None:
        nonlocal started
        started = True
        await send(message)

    incoming = _Incoming(receive)
    try:
        visit = await admit(label, scope["headers"])
        answering = forward(scope, incoming.receive, note, visit)
        refusal = await _unless_refused(first_of(answering, incoming.until_gone()), scope, visit)
    except AppError as exc:
        refusal = exc
    except DatabaseFault as exc:
        logger.warning("preview.not_checked", exc_info=exc)
        await _page(scope, send, 503, "unchecked")
        return
    except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout):
        await _page(scope, send, 502, "silent", visit)
        return
    except (httpcore.NetworkError, httpcore.ProtocolError) as exc:
        logger.info("preview.not_passed_on terminal=%s %s", visit.terminal_id, exc)
        if not started:
            await _page(scope, send, 502, "unreadable", visit)
        return
    if refusal is not None and started:
        raise Cut
    if refusal is not None:
        ended = isinstance(refusal, Conflict)
        await _page(scope, send, 410 if ended else 403, "ended" if ended else "closed")


class _Incoming:
    """What a browser sends. It is read at once, because that it has gone comes the same way."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def until_gone(self) -> None:
        while (message := await self._receive())["type"] != "http.disconnect":
            self._messages.put_nowait(message)

    async def receive(self) -> dict[str, Any]:
        return await self._messages.get()


async def _own_file(label: str, name: str, scope: dict[str, Any], send: Send) -> None:
    if name == "enter":
        await _enter(label, scope, send)
    elif name in _FILES:
        kind = f"{_FILES[name][1]}; charset=utf-8"
        headers = {"content-type": kind, "cache-control": "private, max-age=600"}
        await _send(send, 200, headers, await asyncio.to_thread(_read, name))
    else:
        await _page(scope, send, 404, "closed")


async def _enter(label: str, scope: dict[str, Any], send: Send) -> None:
    """Change a ticket into the cookie, and take it out of the address."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    entry = await in_db(take_ticket, label, query.get("ticket", [""])[-1])
    if entry is None:
        await _page(scope, send, 403, "closed")
        return
    is_secure = keeps_secure_cookies(entry.app_origin)
    cookie = f"{own_cookie_name(is_secure=is_secure)}={entry.cookie}; Path=/; HttpOnly"
    # Browsers keep it in our frame, for our frame alone, and in a tab for that.
    more = "; Secure; SameSite=None; Partitioned" if is_secure else "; SameSite=Lax"
    to = quote(query.get("to", ["/"])[-1], safe=_URL_CHARS)
    headers = {
        # One slash: two would begin the name of a host.
        "location": "/" + to.lstrip("/\\"),
        "set-cookie": cookie + more,
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
    }
    await _send(send, 303, headers, b"")


async def _page(
    scope: dict[str, Any], send: Send, status: int, why: str, visit: Visit | None = None
) -> None:
    """Say in our own words why there is nothing of the app."""
    body = await asyncio.to_thread(_render, scope, why, visit)
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": _PAGE_POLICY,
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "x-robots-tag": "noindex",
    }
    await _send(send, status, headers, body)


def _render(scope: dict[str, Any], why: str, visit: Visit | None) -> bytes:
    request = ASGIRequest({**scope, "method": "GET"}, BytesIO())
    with translation.override(translation.get_language_from_request(request)):
        return render_to_string("sessions/preview_page.html", {"why": why, "visit": visit}).encode()


async def _send(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    raw.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": False})


@lru_cache
def _read(name: str) -> bytes:
    return (Path(settings.ASSETS_DIR) / "static" / _FILES[name][0]).read_bytes()
