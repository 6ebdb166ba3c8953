"""Requests to addresses that people or files name: text pages, small and soon, or not at all."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from opencode_web.lib.addresses import RefusedAddress, check_address

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXT = ("text/", "application/json", "application/xml", "application/yaml", "application/toml")


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a name once, judges the address, and connects to exactly that address."""

    def __init__(self, allow_private: Callable[[], bool]) -> None:
        self._allow_private = allow_private
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,  # httpcore's own tuple union
    ) -> httpcore.AsyncNetworkStream:
        """Raises: httpcore.ConnectError; a RefusedAddress is its cause."""
        last: Exception | None = None
        for address in await _resolve(host, port):
            try:
                check_address(ipaddress.ip_address(address), allow_private=self._allow_private())
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except RefusedAddress as exc:
                raise httpcore.ConnectError(str(exc)) from exc
            except httpcore.ConnectError as exc:
                last = exc
        raise httpcore.ConnectError(f"nothing answers at {host}:{port}") from last

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore wants it between its own attempts."""
        await asyncio.sleep(seconds)


async def _resolve(host: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=1)
    except (OSError, UnicodeError) as exc:
        raise httpcore.ConnectError(f"the name {host} cannot be resolved") from exc
    # IPv4 first: a host with a broken IPv6 route would otherwise wait for its time-out on every
    # call.
    addresses = sorted({str(info[4][0]) for info in found}, key=lambda text: ":" in text)
    return [address.partition("%")[0] for address in addresses]


@lru_cache
def ssl_context() -> ssl.SSLContext:
    """One for all: building it reads every certificate there is."""
    return httpx.create_ssl_context()


class _Transport(httpx.AsyncHTTPTransport):
    def __init__(self, allow_private: bool) -> None:
        # httpx has no parameter for the network backend, so its pool is built here as it builds it.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context(), network_backend=GuardedBackend(lambda: allow_private)
        )


class FetchError(Exception):
    """The page cannot be had; the message says why, and nothing of its content."""


async def fetch_text(
    url: str, *, timeout_s: float, max_bytes: int, user_agent: str, allow_private: bool = False
) -> tuple[str, bool]:
    """Get a page of text. Each redirect is judged like the first address.

    Returns: its text, and whether it was cut at `max_bytes`.
    Raises: FetchError.
    """
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(
                transport=_Transport(allow_private),
                trust_env=False,
                # Not compressed: a small body could become a very large one here.
                headers={
                    "user-agent": user_agent,
                    "accept": "text/*",
                    "accept-encoding": "identity",
                },
            ) as client,
        ):
            return await _follow(client, url, max_bytes)
    except TimeoutError as exc:
        raise FetchError(f"it took longer than {timeout_s:g} s") from exc
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as exc:
        raise FetchError(str(exc) or type(exc).__name__) from exc


async def _follow(client: httpx.AsyncClient, url: str, max_bytes: int) -> tuple[str, bool]:
    for _ in range(MAX_REDIRECTS + 1):
        _check(url)
        async with client.stream("GET", url) as response:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                target = urljoin(url, response.headers["location"])
                if url.startswith("https:") and not target.startswith("https:"):
                    raise FetchError("it leads from https to an address without")
                url = target
                continue
            return await _read(response, max_bytes)
    raise FetchError("it leads on and on")


def _check(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise FetchError("only http and https addresses can be read")
    if parts.username is not None or parts.password is not None:
        raise FetchError("addresses with a user name or password are not read")


async def _read(response: httpx.Response, max_bytes: int) -> tuple[str, bool]:
    if response.status_code != 200:
        raise FetchError(f"the server answered {response.status_code}")
    kind = response.headers.get("content-type", "text/plain")
    if not kind.lower().startswith(_TEXT):
        raise FetchError(f"it is no text but {kind[:60]}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise FetchError("it is compressed, although that was not asked for")
    body = b""
    async for chunk in response.aiter_raw(16 * 1024):
        body += chunk
        if len(body) > max_bytes:
            break
    encoding = response.charset_encoding or "utf-8"
    try:
        text = body[:max_bytes].decode(encoding, errors="replace")
    except LookupError:
        text = body[:max_bytes].decode("utf-8", errors="replace")
    return text, len(body) > max_bytes
