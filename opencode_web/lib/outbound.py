"""Requests to addresses that people, files or models name: small and soon, or not at all."""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

import httpcore
import httpx
from django.utils.translation import gettext, gettext_noop

from opencode_web.lib.addresses import RefusedAddress, is_public, resolve
from opencode_web.lib.outbound_policy import require_open

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5
MAX_URL_CHARS = 8_192
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TEXT = ("text/", "application/json", "application/xml", "application/yaml", "application/toml")
# Programs differ in what they make of these in an address, and a rule about it must not.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")

OnRedirect = Callable[[str], Awaitable[None]]


# Said of every failure before an answer came: what differs between them would tell whoever typed
# the address which ports are open, and which names there are, in the network of this server.
NO_ANSWER = gettext_noop(
    "it does not answer, or it is a private address that an operator has to allow"
)
_CONNECT_S = 15.0
# How long a connection to a private address may be reused without another look at the policy.
_PRIVATE_REUSE_S = 5.0


class NoAnswer(httpx.ConnectError):
    """There is no connection or no answer; its cause says why, which is for the log only."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a name once, judges its addresses, and connects to exactly these."""

    def __init__(self) -> None:
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,  # httpcore's own tuple union
    ) -> httpcore.AsyncNetworkStream:
        """Raises: httpcore.ConnectError."""
        try:
            addresses = await resolve(host, port)
            await require_open(host, port, addresses)
        except (OSError, RefusedAddress) as exc:
            raise httpcore.ConnectError(str(exc)) from exc
        # Each has its share of the time, or one that swallows everything would hide the others.
        share_s = (timeout or _CONNECT_S) / len(addresses)
        last: Exception | None = None
        for address in addresses:
            try:
                stream = await self._inner.connect_tcp(
                    str(address), port, share_s, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
                last = exc
                continue
            return stream if is_public(address) else _PrivateStream(stream)
        raise httpcore.ConnectError(f"nothing answers at {host}:{port}") from last

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore wants it between its own attempts."""
        await asyncio.sleep(seconds)


class _PrivateStream(httpcore.AsyncNetworkStream):
    """A connection that is not kept for long: an operator may close its address."""

    def __init__(self, inner: httpcore.AsyncNetworkStream) -> None:
        self._inner = inner
        self._judged_at = time.monotonic()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _PrivateStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:  # Any: httpcore's own
        # httpcore asks this before it uses an idle connection again; a readable one has ended.
        is_old = time.monotonic() - self._judged_at > _PRIVATE_REUSE_S
        return (info == "is_readable" and is_old) or self._inner.get_extra_info(info)


@lru_cache
def ssl_context() -> ssl.SSLContext:
    """One for all: building it reads every certificate there is."""
    return httpx.create_ssl_context()


class GuardedTransport(httpx.AsyncHTTPTransport):
    """Connections to addresses that the policy for outgoing connections lets through.

    `answered` is whether the last request was. `limits` are those of httpcore's pool.
    """

    def __init__(self, **limits: Any) -> None:
        # httpx has no parameter for the network backend, so its pool is built here as it builds it.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context(), network_backend=GuardedBackend(), **limits
        )
        self.answered = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises: NoAnswer for everything that fails before the head of an answer has come."""
        self.answered = False
        try:
            response = await super().handle_async_request(request)
        except httpx.TransportError as exc:
            log_failure(request.url.host, request.url.port, exc)
            raise NoAnswer(gettext(NO_ANSWER), request=request) from exc
        self.answered = True
        return response


def log_failure(host: str, port: int | None, reason: object) -> None:
    """Tell operators what people are not told: why there was no connection or answer."""
    logger.warning("outbound.failed host=%s port=%s reason=%s", host, port or "", reason)


class FetchError(Exception):
    """The page cannot be had; the message says why, and nothing of its content."""


@asynccontextmanager
async def guarded_client(
    *, timeout_s: float, headers: Mapping[str, str]
) -> AsyncIterator[httpx.AsyncClient]:
    """A client for one exchange that reaches what the policy opens; what it does takes `timeout_s`
    at most, all in all.

    Raises: FetchError for whatever fails in it, also for a ValueError or an httpx error of its
    body.
    """
    transport = GuardedTransport()
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(
                transport=transport,
                trust_env=False,
                # The whole is limited above.
                timeout=httpx.Timeout(None, connect=min(timeout_s, _CONNECT_S)),
                headers=dict(headers),
            ) as client,
        ):
            yield client
    except TimeoutError as exc:
        slow = gettext("it took longer than {seconds} s").format(seconds=f"{timeout_s:g}")
        raise FetchError(slow if transport.answered else gettext(NO_ANSWER)) from exc
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as exc:
        raise FetchError(str(exc) or type(exc).__name__) from exc


@asynccontextmanager
async def open_page(
    url: str,
    *,
    headers: Mapping[str, str],
    timeout_s: float,
    on_redirect: OnRedirect | None = None,
) -> AsyncIterator[tuple[str, httpx.Response]]:
    """Get a page, its body not yet read. Each redirect is judged like the first address.

    `on_redirect` is awaited with the address before a redirect is followed, and may raise.
    Yields: the address where it was found, and the answer.
    Raises: FetchError, also while the body is read.
    """
    async with guarded_client(timeout_s=timeout_s, headers=headers) as client:
        target = check_url(url)
        for _ in range(MAX_REDIRECTS + 1):
            async with client.stream("GET", target) as response:
                if response.status_code not in _REDIRECTS or "location" not in response.headers:
                    yield target, response
                    return
            target = _next(target, response.headers["location"])
            if on_redirect is not None:
                await on_redirect(target)
        raise FetchError(gettext("it redirects too often"))


def check_url(url: str) -> str:
    """Returns: the address as it is requested, without its fragment.

    Raises: FetchError for what is no plain http(s) address.
    """
    if len(url) > MAX_URL_CHARS:
        text = gettext("it is longer than {count} characters")
        raise FetchError(text.format(count=MAX_URL_CHARS))
    if _AMBIGUOUS.search(url):
        raise FetchError(gettext("it contains a space, a backslash or a control character"))
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError) as exc:
        raise FetchError(gettext("it is not a valid address")) from exc
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise FetchError(gettext("it must start with http:// or https://"))
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        raise FetchError(gettext("it must not contain a user name or password"))
    return str(parsed.copy_with(fragment=None))


def _next(url: str, location: str) -> str:
    try:
        target = check_url(str(httpx.URL(url).join(location)))
    except httpx.InvalidURL as exc:
        raise FetchError(gettext("it redirects to an address that is not valid")) from exc
    if url.startswith("https:") and not target.startswith("https:"):
        raise FetchError(gettext("it redirects from https to http"))
    return target


async def fetch_text(
    url: str, *, timeout_s: float, max_bytes: int, user_agent: str
) -> tuple[str, bool]:
    """Get a page of text.

    Returns: its text, and whether it was cut at `max_bytes`.
    Raises: FetchError.
    """
    # Not compressed: a small body could become a very large one here.
    headers = {"user-agent": user_agent, "accept": "text/*", "accept-encoding": "identity"}
    async with open_page(url, headers=headers, timeout_s=timeout_s) as (_, response):
        return await _read(response, max_bytes)


async def _read(response: httpx.Response, max_bytes: int) -> tuple[str, bool]:
    if response.status_code != 200:
        raise FetchError(f"the server answered {response.status_code}")
    kind = response.headers.get("content-type", "text/plain")
    if not kind.lower().startswith(_TEXT):
        raise FetchError(f"it is no text but {kind[:60]}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise FetchError("it is compressed, although that was not asked for")
    body = bytearray()
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
