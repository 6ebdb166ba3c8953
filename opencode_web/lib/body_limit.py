"""A bound on what a request may send, applied before anything keeps it.

Daphne receives a whole body, without bound, before it calls the application; so its request class
is bounded too. The ASGI wrapper does the same under any other server.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from django.conf import settings

from opencode_web.lib.daphne import http_protocol, server
from opencode_web.lib.errors import TooLarge
from opencode_web.lib.public_url import without_base

# Forms of people who are not signed in.
SMALL_BYTES = 64 * 1024
# Deliveries of forges: a comment with the text of its thread.
FORGE_BYTES = 1024 * 1024
_FORGES = "/integrations/"
# Seconds in which a client that was refused may finish sending, so that it reads the answer: a
# connection closed with unread data is reset.
_LINGER_S = 1.0
_OPEN_PAGES = ("/login", "/setup", "/invite/", "/logout", "/inactive")

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[Any]]  # servers and frameworks type it apart
# From the path and the origin of a request: headers without which a page there cannot read why.
Grants = Callable[[str, str], Mapping[str, str]]


def _nothing(_path: str, _origin: str) -> Mapping[str, str]:
    return {}


class BodyLimit:
    """Answer 413 as soon as a request says or turns out to have more than it may."""

    def __init__(self, application: Application, grants: Grants = _nothing) -> None:
        self._application = application
        self._grants = grants

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        headers = list(scope["headers"])
        limit = limit_of(scope["path"], headers)
        granted = self._grants(scope["path"], _first(headers, b"origin").decode("latin-1"))
        stated = _first(headers, b"content-length") or b"0"
        if not stated.isdigit() or int(stated) > limit:
            await _refuse(send, limit, granted)
            return
        received = 0
        started = False

        async def bounded_receive() -> dict[str, Any]:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise _Exceeded
            return message

        async def noting_send(message: dict[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._application(scope, bounded_receive, noting_send)
        except _Exceeded:
            if not started:
                await _refuse(send, limit, granted)


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]  # daphne ships no types
    """Daphne's request, which keeps no byte over the limit and answers 413 at once."""

    content: Any  # twisted's temporary file
    grants: Grants = staticmethod(_nothing)
    _refused = False
    received_bytes = 0

    def gotLength(self, length: int | None) -> None:
        super().gotLength(length)
        path = getattr(self.channel, "_path", b"").decode("latin-1")
        headers = [
            (name.lower(), value)
            for name, values in self.requestHeaders.getAllRawHeaders()
            for value in values
        ]
        self._limit = limit_of(path, headers)
        origin = _first(headers, b"origin").decode("latin-1")
        self._granted = self.grants(unquote(path.partition("?")[0]), origin)
        if length is not None and length > self._limit:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:
        self.received_bytes += len(data)
        if self.received_bytes > self._limit:
            self._refuse()
        if not self._refused:
            super().handleContentChunk(data)

    def process(self) -> Any:  # twisted's Deferred
        if self._refused:
            self.channel.loseConnection()
            return None
        return super().process()

    def handle_exception(self, exception: BaseException) -> None:
        """Cut off a response that has begun: the base class would try to begin another."""
        if not self._response_started:
            super().handle_exception(exception)
        elif self.channel is not None:
            self.channel.transport.abortConnection()

    def _refuse(self) -> None:
        if self._refused:
            return
        self._refused = True
        self.content.close()
        self.content = BytesIO()
        body = _body(self._limit)
        granted = "".join(f"{name}: {value}\r\n" for name, value in self._granted.items())
        head = (
            "HTTP/1.1 413 Content Too Large\r\nContent-Type: application/json\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            f"{granted}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.channel.transport.write(head.encode() + body)
        # Daphne's own reference: importing twisted's reactor first would choose another one.
        server.reactor.callLater(_LINGER_S, self._abort)

    def _abort(self) -> None:
        if self.channel is not None:
            self.channel.loseConnection()


class _Exceeded(Exception):
    pass


def limit_requests(grants: Grants = _nothing) -> None:
    """Have every Daphne server of this process bound its requests."""
    BoundedRequest.grants = staticmethod(grants)
    http_protocol.WebRequest = BoundedRequest


def limit_of(path: str, headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Returns: bytes that a request to the path may have; few where nobody is signed in."""
    limit = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    bare = without_base(path.partition("?")[0])
    if bare.startswith(_FORGES):
        # Signed in its body; whatever its headers say, nobody is signed in.
        return min(FORGE_BYTES, limit)
    signed = any(
        name == b"authorization" or (name == b"cookie" and _has_session(value))
        for name, value in headers
    )
    if not signed or bare.startswith(_OPEN_PAGES):
        return min(SMALL_BYTES, limit)
    return limit


def _first(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> bytes:
    return next((value for name, value in headers if name == wanted), b"")


def _has_session(cookie: bytes) -> bool:
    names = (settings.SESSION_COOKIE_NAME, settings.PREVIEW_COOKIE_NAME)
    return any(f"{name}=".encode() in cookie for name in names)


def _body(limit: int) -> bytes:
    shown = f"{limit // 1024 // 1024} MiB" if limit >= 1024 * 1024 else f"{limit // 1024} KiB"
    error = TooLarge(f"This request may have at most {shown}.", limit=limit)
    tagged = {"_tag": str(error.code), "message": error.message, **error.to_json()}
    return json.dumps(tagged).encode()


async def _refuse(send: Send, limit: int, granted: Mapping[str, str]) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    headers += [(name.lower().encode(), value.encode()) for name, value in granted.items()]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": _body(limit)})
