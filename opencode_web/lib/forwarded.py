"""Whose request it is, where proxies stand in front: found once for pages, streams and sockets.

Nothing else reads `X-Forwarded-For`. What clients write themselves stands before what the trusted
proxies append, so only places from the end count.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port

logger = logging.getLogger(__name__)

_EVERY_S = 60.0
_BODY = b"The proxy in front of this server did not say where this request comes from.\n"

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class UnknownClient(Exception):
    """There are fewer addresses than trusted proxies, or one of theirs is none."""


class ForwardedClient:
    """Put the client's address where the server has the proxy's. Refuse what has none with 400.

    A request without the header comes past the proxies, from this host or network, such as a health
    check: its own address is the client's.
    """

    def __init__(self, application: Callable[[Any, Any, Any], Awaitable[Any]]) -> None:
        self._application = application
        self._told_at = -_EVERY_S

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        try:
            address = client_address(scope.get("headers", ()), settings.TRUSTED_PROXY_COUNT)
        except UnknownClient as exc:
            self._tell(exc)
            await _refuse(scope, receive, send)
            return
        if address:
            scope = {**scope, "client": [address, 0]}
        await self._application(scope, receive, send)

    def _tell(self, exc: UnknownClient) -> None:
        # All requests have the same fault, and anyone can send one.
        if time.monotonic() - self._told_at < _EVERY_S:
            return
        self._told_at = time.monotonic()
        logger.warning(
            "proxy.unknown_client %s TRUSTED_PROXY_COUNT=%s: set it to the number of proxies that "
            "append an address to X-Forwarded-For.",
            exc,
            settings.TRUSTED_PROXY_COUNT,
        )


def client_address(headers: Iterable[tuple[bytes, bytes]], proxies: int) -> str:
    """Returns: what the first of the trusted proxies has appended; empty without the header.

    Raises: UnknownClient
    """
    values = [value.decode("latin-1") for name, value in headers if name == b"x-forwarded-for"]
    if not proxies or not values:
        return ""
    hops = ",".join(values).split(",")
    if len(hops) < proxies:
        raise UnknownClient(f"addresses={len(hops)}")
    hop = hops[-proxies].strip()
    try:
        # Some append the port, too.
        return str(ip_address((split_domain_port(hop)[0] or hop).strip("[]")))
    except ValueError as exc:
        raise UnknownClient("unreadable") from exc


async def _refuse(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        # Before it is accepted this is an answer with 403.
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(_BODY)).encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": _BODY})
