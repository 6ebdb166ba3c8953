"""HTTP to providers: one connection pool per event loop, and one `Call` per provider turn.

litellm gets a `Call` as its transport. That gives us three things which litellm does not: the
answer's own status, headers and error body to classify by; a way to close the connection at once
when a turn is cancelled; and a look at the resolved address before a connection is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from weakref import WeakKeyDictionary

import httpx
from django.conf import settings

from opencode_web.lib.outbound import NO_ANSWER, GuardedTransport, NoAnswer

CONNECT_TIMEOUT_S = 30.0
MAX_CONNECTIONS = 1_000
MAX_IDLE_CONNECTIONS = 100
KEEP_ALIVE_S = 30.0
MAX_ERROR_BYTES = 64 * 1024
_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)


class Pool(GuardedTransport):
    """Guarded connections that are kept for the next turn."""

    def __init__(self) -> None:
        super().__init__(
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_IDLE_CONNECTIONS,
            keepalive_expiry=KEEP_ALIVE_S,
        )


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()


def pool() -> Pool:
    """Return the pool of the running loop. Connections cannot be shared between loops."""
    loop = asyncio.get_running_loop()
    if loop not in _pools:
        _pools[loop] = Pool()
    return _pools[loop]


async def close_pool() -> None:
    """Close the running loop's idle connections; call it before the loop ends."""
    found = _pools.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.aclose()


class Call(httpx.AsyncBaseTransport):
    """One provider turn's connections, on the shared pool.

    `status_code`, `headers` and `error_body` are those of the last answer. `was_sent`: the
    request may have arrived although no answer came.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self._open: list[httpx.AsyncByteStream] = []
        self.status_code: int | None = None
        self.headers: Mapping[str, str] = {}
        self.error_body = ""
        self.was_sent = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send on the shared pool and remember the answer. An error's body is read at once.

        Raises: NoAnswer, without sending, after a request that may have arrived.
        """
        if self.was_sent:
            # litellm sends again what could not connect, as which every `NoAnswer` looks to it.
            raise NoAnswer(NO_ANSWER, request=request)
        self.status_code, self.headers, self.error_body = None, {}, ""
        # A compressed stream arrives in lumps, and saves nothing at the speed of a model.
        request.headers["accept-encoding"] = "identity"
        request.headers["user-agent"] = f"opencode-web/{settings.VERSION}"
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as exc:
            # The guard says nothing else of whatever fails before an answer, also once it was sent.
            cause = exc.__cause__ if isinstance(exc, NoAnswer) else exc
            self.was_sent = not isinstance(cause, _UNSENT)
            raise
        self.status_code, self.headers = response.status_code, response.headers
        stream = response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        if response.is_success:
            self._open.append(stream)
            return response
        try:
            body = await _read_capped(stream)
        finally:
            await stream.aclose()
        self.error_body = body.decode("utf-8", "replace")
        headers = {k: v for k, v in response.headers.items() if k not in _DROPPED_HEADERS}
        return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Do nothing: litellm closes its client after a retry, and the pool is not the client's."""

    async def hang_up(self) -> None:
        """Close every connection that is still streaming, so that the provider stops working."""
        while self._open:
            await self._open.pop().aclose()


# Of an error; without a location no client can be told to follow a redirect.
_DROPPED_HEADERS = frozenset(
    {"content-length", "transfer-encoding", "content-encoding", "location"}
)


async def _read_capped(stream: AsyncIterator[bytes] | httpx.AsyncByteStream) -> bytes:
    body = b""
    async for chunk in stream:
        body += chunk
        if len(body) > MAX_ERROR_BYTES:
            break
    return body[:MAX_ERROR_BYTES]
