"""Requests to addresses that people, files or models name: small and soon, or not at all."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

import httpcore
import httpx

from opencode_web.lib.addresses import RefusedAddress, check_address, resolve

MAX_REDIRECTS = 5
MAX_URL_CHARS = 8_192
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXT = ("text/", "application/json", "application/xml", "application/yaml", "application/toml")
# Programs differ in what they make of these in an address, and a rule about it must not.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")

OnRedirect = Callable[[str], Awaitable[None]]


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
        try:
            addresses = await resolve(host, port)
        except OSError as exc:
            raise httpcore.ConnectError(f"the name {host} cannot be resolved") from exc
        for address in addresses:
            try:
                check_address(address, allow_private=self._allow_private())
                return await self._inner.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except RefusedAddress as exc:
                raise httpcore.ConnectError(str(exc)) from exc
            except httpcore.ConnectError as exc:
                last = exc
        raise httpcore.ConnectError(f"nothing answers at {host}:{port}") from last

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore wants it between its own attempts."""
        await asyncio.sleep(seconds)


@lru_cache
def ssl_context() -> ssl.SSLContext:
    """One for all: building it reads every certificate there is."""
    return httpx.create_ssl_context()


class GuardedTransport(httpx.AsyncHTTPTransport):
    """Connections of its own, to addresses that the guard lets through."""

    def __init__(self, allow_private: bool) -> None:
        # httpx has no parameter for the network backend, so its pool is built here as it builds it.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context(), network_backend=GuardedBackend(lambda: allow_private)
        )


class FetchError(Exception):
    """The page cannot be had; the message says why, and nothing of its content."""


@asynccontextmanager
async def guarded_client(
    *, timeout_s: float, allow_private: bool, headers: Mapping[str, str]
) -> AsyncIterator[httpx.AsyncClient]:
    """A client for one exchange that reaches public addresses only; what it does takes `timeout_s`
    at most, all in all.

    Raises: FetchError for whatever fails in it, also for a ValueError or an httpx error of its
    body.
    """
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(
                transport=GuardedTransport(allow_private),
                trust_env=False,
                timeout=None,  # noqa: S113  the whole is limited above
                headers=dict(headers),
            ) as client,
        ):
            yield client
    except TimeoutError as exc:
        raise FetchError(f"it took longer than {timeout_s:g} s") from exc
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as exc:
        raise FetchError(str(exc) or type(exc).__name__) from exc


@asynccontextmanager
async def open_page(
    url: str,
    *,
    headers: Mapping[str, str],
    timeout_s: float,
    allow_private: bool = False,
    on_redirect: OnRedirect | None = None,
) -> AsyncIterator[tuple[str, httpx.Response]]:
    """Get a page, its body not yet read. Each redirect is judged like the first address.

    `on_redirect` is awaited with the address before a redirect is followed, and may raise.
    Yields: the address where it was found, and the answer.
    Raises: FetchError, also while the body is read.
    """
    async with guarded_client(
        timeout_s=timeout_s, allow_private=allow_private, headers=headers
    ) as client:
        target = check_url(url)
        for _ in range(MAX_REDIRECTS + 1):
            async with client.stream("GET", target) as response:
                if response.status_code not in _REDIRECTS or "location" not in response.headers:
                    yield target, response
                    return
            target = _next(target, response.headers["location"])
            if on_redirect is not None:
                await on_redirect(target)
        raise FetchError("it leads on and on")


def check_url(url: str) -> str:
    """Returns: the address as it is requested, without its fragment.

    Raises: FetchError for what is no plain http(s) address.
    """
    if len(url) > MAX_URL_CHARS:
        raise FetchError(f"the address is longer than {MAX_URL_CHARS} characters")
    if _AMBIGUOUS.search(url):
        raise FetchError("the address has a space, a backslash or a control character in it")
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as exc:
        raise FetchError("it is no valid address") from exc
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise FetchError("only http and https addresses can be read")
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        raise FetchError("addresses with a user name or password are not read")
    return str(parsed.copy_with(fragment=None))


def _next(url: str, location: str) -> str:
    try:
        target = check_url(str(httpx.URL(url).join(location)))
    except httpx.InvalidURL as exc:
        raise FetchError("it leads to an address that is not valid") from exc
    if url.startswith("https:") and not target.startswith("https:"):
        raise FetchError("it leads from https to an address without")
    return target


async def fetch_text(
    url: str, *, timeout_s: float, max_bytes: int, user_agent: str, allow_private: bool = False
) -> tuple[str, bool]:
    """Get a page of text.

    Returns: its text, and whether it was cut at `max_bytes`.
    Raises: FetchError.
    """
    # Not compressed: a small body could become a very large one here.
    headers = {"user-agent": user_agent, "accept": "text/*", "accept-encoding": "identity"}
    page = open_page(url, headers=headers, timeout_s=timeout_s, allow_private=allow_private)
    async with page as (_, response):
        return await _read(response, max_bytes)


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
