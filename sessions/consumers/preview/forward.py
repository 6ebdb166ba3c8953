"""A request to an app, and its response, both as they come."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote

import httpcore

from sessions.actions.previews import Visit
from sessions.consumers.preview import inject
from sessions.consumers.preview.connections import pool_of
from sessions.consumers.preview.headers import first, from_app, to_app
from sessions.previews.origin import keeps_secure_cookies, origin_of

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

# Until a connection to the app stands; a dev server may think about a page for as long as it likes.
_TIMEOUTS = {"connect": 10.0, "pool": 60.0}


async def forward(scope: dict[str, Any], receive: Receive, send: Send, visit: Visit) -> None:
    """Answer with what the app says.

    Raises: httpcore.ConnectError when no app answers, and its other errors for what cannot be
    passed on; after the response has begun only `Cut`.
    """
    given = scope["headers"]
    origin = origin_of(visit.label, visit.app_origin)
    headers = to_app(given, port=visit.port, origin=origin)
    has_body = bool(first(given, b"content-length")) or bool(first(given, b"transfer-encoding"))
    if has_body and not first(given, b"content-length"):
        headers.append((b"transfer-encoding", b"chunked"))
    url = httpcore.URL(scheme=b"http", host=b"localhost", port=visit.port, target=target_of(scope))
    content = _body(receive) if has_body else None
    request = httpcore.Request(scope["method"], url, headers=headers, content=content)
    async with pool_of(visit.terminal_id) as pool, AsyncExitStack() as stack:
        response = await _ask(pool, request, is_repeatable=_is_repeatable(request, content))
        stack.push_async_callback(response.aclose)
        await _answer(given, response, send, visit)


async def _ask(
    pool: httpcore.AsyncConnectionPool, request: httpcore.Request, *, is_repeatable: bool
) -> httpcore.Response:
    """Have a response begin. An app can close a connection that it has kept at the moment when a
    request is on its way: what may be repeated is sent again then, on another one.

    Raises: as `forward`.
    """
    while True:
        opened = list[str]()

        async def note(step: str, _info: dict[str, Any], opened: list[str] = opened) -> None:
            if step == "connection.connect_tcp.started":
                opened.append(step)

        request.extensions = {"timeout": _TIMEOUTS, "trace": note}
        try:
            return await pool.handle_async_request(request)
        except (httpcore.NetworkError, httpcore.RemoteProtocolError):
            if opened or not is_repeatable:
                raise


def _is_repeatable(request: httpcore.Request, content: object) -> bool:
    return content is None and request.method in (b"GET", b"HEAD", b"OPTIONS")


class Cut(Exception):
    """A response that has begun goes no further. The server breaks it off, so that the browser
    knows that something is missing."""


def target_of(scope: dict[str, Any]) -> bytes:  # as ASGI types it
    """Returns: path and query as the browser sent them."""
    path: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    query: bytes = scope["query_string"]
    return path + (b"?" + query if query else b"")


async def _answer(
    asked: list[tuple[bytes, bytes]], response: httpcore.Response, send: Send, visit: Visit
) -> None:
    headers = from_app(
        response.headers,
        port=visit.port,
        app_origin=visit.app_origin,
        is_secure=keeps_secure_cookies(visit.app_origin),
    )
    chunks = aiter(response.aiter_stream())
    if inject.is_page(response.status, asked, headers):
        nonce = secrets.token_urlsafe(16)
        tag = inject.tag_for(visit.app_origin, nonce)
        origin = origin_of(visit.label, visit.app_origin)
        headers = inject.headers_with(headers, tag, origin=origin, nonce=nonce)
        chunks = inject.with_tag(chunks, tag)
    start = {"type": "http.response.start", "status": response.status, "headers": headers}
    await send(start)
    try:
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except (httpcore.NetworkError, httpcore.ProtocolError) as exc:
        raise Cut from exc
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return
