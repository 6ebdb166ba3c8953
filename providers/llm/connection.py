"""One request over HTTP: sent once, never redirected, closed when nobody listens any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus

import httpx

from .json import JsonObject, dump
from .messages import ProviderRequest, ResolvedModel, Timeouts
from .route import Route

MAX_ERROR_BYTES = 64 * 1024

# Of the connection itself: a server in between would take the request for another one.
STEERING_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer",
     "upgrade", "expect", "proxy-connection"}
)  # fmt: skip


class TookTooLong(TimeoutError):
    """The whole answer is not there in the time that it may take."""


_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)
# Said by what stands between us and the model, which may have answered all the same.
_ON_THE_WAY = frozenset({408, 499, 502, 504, *range(520, 528)})


class Connection:
    """`status_code`, `headers` and `error_body` are those of the answer, as far as one came."""

    def __init__(self, transport: httpx.AsyncBaseTransport, timeouts: Timeouts) -> None:
        self._transport = transport
        self._timeouts = timeouts
        self._stream: httpx.AsyncByteStream | None = None
        # Whether the request may have arrived although no answer came.
        self._was_sent = False
        self.status_code: int | None = None
        self.headers: Mapping[str, str] = {}
        self.error_body = ""

    async def open(self, request: httpx.Request) -> AsyncIterator[bytes]:
        """Send it, and return the blocks of the answer.

        Raises: httpx.HTTPStatusError for anything but an answer; httpx.HTTPError; TimeoutError.
        """
        limits = self._timeouts
        request.extensions["timeout"] = httpx.Timeout(limits.idle, connect=limits.connect).as_dict()
        loop = asyncio.get_running_loop()
        end = None if limits.total is None else loop.time() + limits.total
        header = None if limits.header is None else loop.time() + limits.header
        try:
            async with asyncio.timeout_at(min(_given(header, end), default=None)):
                response = await self._transport.handle_async_request(request)
        except BaseException as exc:
            # A guard may say nothing else of whatever fails; its cause does.
            known = exc.__cause__ if isinstance(exc.__cause__, httpx.HTTPError) else exc
            self._was_sent = not isinstance(known, _UNSENT)
            raise
        self.status_code, self.headers = response.status_code, response.headers
        assert isinstance(response.stream, httpx.AsyncByteStream)
        self._stream = response.stream
        if not response.is_success:
            body = await read_capped(self._stream, MAX_ERROR_BYTES)
            self.error_body = body.decode("utf-8", "replace")
            raise httpx.HTTPStatusError("refused", request=request, response=response)
        return aiter(self._stream) if end is None else _until(end, self._stream)

    @property
    def is_refused(self) -> bool:
        """Whether the request did not come to the model."""
        if self.status_code is None:
            return not self._was_sent
        is_answered = HTTPStatus.OK <= self.status_code < HTTPStatus.MULTIPLE_CHOICES
        return not is_answered and self.status_code not in _ON_THE_WAY

    async def close(self) -> None:
        """Close the connection unless the answer has ended, so that the provider stops working."""
        if self._stream is not None:
            await self._stream.aclose()


def _given(*moments: float | None) -> list[float]:
    return [moment for moment in moments if moment is not None]


async def _until(end: float, stream: httpx.AsyncByteStream) -> AsyncIterator[bytes]:
    """What a server sends to keep a connection open must not keep it open for ever."""
    blocks = aiter(stream)
    while True:
        try:
            async with asyncio.timeout_at(end):
                block = await anext(blocks)
        except StopAsyncIteration:
            return
        except TimeoutError as exc:
            raise TookTooLong from exc
        yield block


def build(request: ProviderRequest, route: Route, *, user_agent: str = "") -> httpx.Request:
    """Returns: what is sent, complete and signed."""
    body = route.protocol.encode(request)
    headers = {
        "content-type": "application/json",
        "accept": "*/*",
        # A compressed stream arrives in lumps, and saves nothing at the speed of a model.
        "accept-encoding": "identity",
        **({"user-agent": user_agent} if user_agent else {}),
        **session_headers(request),
        **route.headers,
        **own_headers(request.model),
        **route.protocol.headers(request, body),
    }
    sent = {name: value for name, value in headers.items() if value}
    made = httpx.Request("POST", route.url, headers=sent, content=write_body(body))
    route.auth(made)
    return made


def own_headers(model: ResolvedModel) -> dict[str, str]:
    """Returns: what settings and the catalog add to the headers of a call, in small letters."""
    lowered = {name.strip().lower(): value for name, value in model.headers.items()}
    return {name: value for name, value in lowered.items() if name not in STEERING_HEADERS}


def session_headers(request: ProviderRequest) -> dict[str, str]:
    """Returns: what lets a gateway send the calls of one session to one place.

    An adapter whose vendor has names of its own for it sets these to nothing.
    """
    headers = {"x-session-affinity": request.session_id, "x-session-id": request.session_id}
    if request.parent_session_id:
        headers["x-parent-session-id"] = request.parent_session_id
    return headers


def write_body(body: JsonObject) -> bytes:
    """Returns: the bytes of a body, the same for the same values."""
    # What options have of half characters; texts are clean by now.
    return dump(body).encode(errors="replace")


async def read_capped(stream: httpx.AsyncByteStream, max_bytes: int) -> bytes:
    """Returns: the beginning of an answer; what follows is left unread."""
    # Many small blocks, added to bytes, would be copied as often as there are blocks.
    body = bytearray()
    async for chunk in stream:
        body += chunk
        if len(body) > max_bytes:
            break
    return bytes(body[:max_bytes])
