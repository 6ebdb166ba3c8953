"""The way to a server at an address: guarded connections under the protocol's own package.

What fails for one request is told to who waits for that; the package would end for all.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import httpx
import httpx2
from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from mcp.client.streamable_http import MCP_SESSION_ID
from mcp_types import METHOD_NOT_FOUND

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.outbound import GuardedTransport
from tools.errors import ToolError
from tools.mcp.exchange import MAX_MESSAGE_BYTES, NotBegun, Rate, ServerGone, SignInNeeded

# Of one answer, and of all together within ten seconds: memory and processor are others' too.
_MAX_BYTES = 4 * MAX_MESSAGE_BYTES
_MAX_ERROR_BYTES = 64 * 1024
_SHOWN_CHARS = 300
_GOODBYE_S = 1.0
# For what nobody waits for, such as a notification.
_TELLING_S = 10.0
_LISTENS_AGAIN_S = 2.0
# How the protocol's TypeScript package answers a session that it does not know.
_BAD_SESSION = -32000
_ENDED = "The server has ended the session."
_TOO_MUCH = f"The server sent more than {_MAX_BYTES >> 20} MiB."
_OWN_HEADERS = frozenset({"content-length", "transfer-encoding", "content-encoding"})
_T = TypeVar("_T")
# The request that the package works for; 0 for what it does of its own accord. It carries the
# context of whoever sends a message over to the tasks that it starts for it.
NUMBER: ContextVar[int] = ContextVar("number", default=0)
OnFailure = Callable[[int, ToolError], None]


class _GivenUp(Exception):
    """Nobody waits any more."""


class Line(httpx2.AsyncBaseTransport):
    """The way to one server. `failed` is why it broke down for all, as soon as it did."""

    def __init__(self, inner: GuardedTransport, *, listens: bool) -> None:
        self._inner = inner
        self._listens = listens
        self._received = Rate(_MAX_BYTES, _TOO_MUCH)
        self._listened_at = -_LISTENS_AGAIN_S
        self._given_up: dict[int, asyncio.Event] = {}
        self.failed: asyncio.Future[ToolError] = asyncio.get_running_loop().create_future()
        # Told of a request that has failed alone.
        self.on_failure: OnFailure = lambda number, error: None
        # What the last message was answered with.
        self.status = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send what the package wants to send. It is told of failures by an httpx2 error, or of
        those of one request by an empty answer."""
        number = NUMBER.get()
        if request.method == "DELETE":
            async with asyncio.timeout(_GOODBYE_S):
                return await self._send(request)
        try:
            if not number and request.method == "GET":
                await self._pause()
            is_telling = not number and request.method == "POST"
            async with asyncio.timeout(_TELLING_S if is_telling else None):
                response = await self.while_wanted(number, self._send(request))
        except _GivenUp:
            return _nothing(request)
        except ToolError as exc:
            return self._fail(request, exc)
        except TimeoutError:
            raise self.fail(ServerGone("The server does not read what it is sent.")) from None
        self.status = response.status_code
        return await self._refused(response) if response.is_error else response

    async def _pause(self) -> None:
        """A server that ends each stream at once must not have it opened without end."""
        now = time.monotonic()
        wait_s, self._listened_at = self._listened_at + _LISTENS_AGAIN_S - now, now
        if wait_s > 0:
            await asyncio.sleep(wait_s)

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        headers = {**request.headers, "accept-encoding": "identity"}
        sent = httpx.Request(
            request.method, str(request.url), headers=headers, content=await request.aread()
        )
        try:
            answer = await self._inner.handle_async_request(sent)
        except httpx.HTTPError as exc:
            raise ToolError(f"The server cannot be reached: {_sentence(exc)}") from exc
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        is_stream = answer.headers.get("content-type", "").startswith("text/event-stream")
        body = _Body(self, answer.stream, NUMBER.get(), most=None if is_stream else _MAX_BYTES)
        response = httpx2.Response(
            answer.status_code,
            headers=answer.headers.multi_items(),
            stream=body,
            request=request,
        )
        if answer.headers.get("content-encoding", "identity") != "identity":
            # A small answer could become a very large one here.
            await response.aclose()
            raise ToolError("The server's response is compressed, although this was not requested.")
        return response

    async def _refused(self, response: httpx2.Response) -> httpx2.Response:
        """An error of the protocol is left to the package, and one that nobody waits for."""
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > _MAX_ERROR_BYTES:
                break
        await response.aclose()
        asked = response.request
        is_post = asked.method == "POST"
        is_question = is_post and {"id", "method"} <= _object(asked.content).keys()
        # Not while an answer is awaited: what was asked for has begun, and is not asked for again.
        if response.status_code == 401 and (is_question or (self._listens and not is_post)):
            challenge = response.headers.get("www-authenticate", "")
            return self._fail(asked, SignInNeeded(challenge))
        error = _object(bytes(body)).get("error") if is_post else None
        if is_question and MCP_SESSION_ID in asked.headers and _is_lost(response, error):
            self.on_failure(NUMBER.get(), NotBegun(_ENDED))
            raise self.fail(ServerGone(_ENDED))
        awaited = is_question or (not is_post and (self._listens or NUMBER.get() > 0))
        if awaited and not isinstance(error, dict):
            text = " ".join(body.decode("utf-8", "replace").split())[:_SHOWN_CHARS]
            said = f": {text}" if text else "."
            problem = f"The server responded with status {response.status_code}{said}"
            return self._fail(asked, ToolError(problem))
        headers = [one for one in response.headers.multi_items() if one[0] not in _OWN_HEADERS]
        return httpx2.Response(
            response.status_code, headers=headers, content=bytes(body), request=asked
        )

    def _fail(self, request: httpx2.Request, error: ToolError) -> httpx2.Response:
        """Raises: httpx2.TransportError where it is more than one request that fails."""
        number = NUMBER.get()
        # The greeting decides about everything.
        if number > 1:
            self.on_failure(number, error)
            return _nothing(request)
        if request.method == "GET" and not self._listens:
            # Notifications that would have come unasked.
            return _nothing(request)
        raise self.fail(error)

    def fail(self, error: ToolError) -> httpx2.TransportError:
        """Returns: what the package is told instead."""
        if not self.failed.done():
            self.failed.set_result(error)
        return httpx2.TransportError(error.message)

    def cut_off(self, number: int, error: ToolError) -> None:
        """The answer to a request has broken off, or the stream of all. Raises: as `_fail`."""
        if number > 1:
            self.on_failure(number, error)
        elif number or self._listens:
            raise self.fail(error)

    def count(self, chunk: bytes) -> None:
        """Raises: httpx2.TransportError when it is too much, all in all."""
        try:
            self._received.count(len(chunk))
        except ServerGone as exc:
            raise self.fail(exc) from exc

    def give_up(self, number: int) -> None:
        """Close what a request has opened."""
        if (event := self._given_up.get(number)) is not None:
            event.set()

    async def while_wanted(self, number: int, work: Awaitable[_T]) -> _T:
        """Wait for it. Raises: _GivenUp when nobody waits for the answer to a request any more."""
        if not number:
            return await work
        event = self._given_up.setdefault(number, asyncio.Event())
        task, given_up = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait({task, given_up}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise _GivenUp
            return task.result()
        finally:
            for one in (task, given_up):
                one.cancel()
            await asyncio.wait({task, given_up})
            if not task.cancelled():
                task.exception()  # of one that nobody waits for

    def forget(self, number: int) -> None:
        """The answer to a request has come to its end."""
        self._given_up.pop(number, None)

    async def until_failed(self, work: Awaitable[_T]) -> _T:
        """Wait for it. Raises: ToolError when the way breaks down meanwhile."""
        task = asyncio.ensure_future(work)
        try:
            waiting: set[asyncio.Future[Any]] = {task, self.failed}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise self.failed.result()
            return task.result()
        except (EndOfStream, ClosedResourceError, BrokenResourceError) as exc:
            if self.failed.done():
                raise self.failed.result() from exc
            raise ServerGone("The server closed the connection without a response.") from exc
        finally:
            task.cancel()


def _is_lost(response: httpx2.Response, error: JsonValue) -> bool:
    """Whether a server has forgotten a session. Some have a status of their own for that.

    Source: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
    """
    code = error.get("code") if isinstance(error, dict) else None
    if response.status_code == 404:
        return code != METHOD_NOT_FOUND
    return response.status_code == 400 and code == _BAD_SESSION


def _nothing(request: httpx2.Request) -> httpx2.Response:
    """What ends the package's work for a request that has been settled otherwise."""
    return httpx2.Response(202 if request.method == "POST" else 405, request=request)


class _Body(httpx2.AsyncByteStream):
    """`most`: bytes that it may have, where it is read as a whole."""

    def __init__(
        self, line: Line, inner: httpx.AsyncByteStream, number: int, *, most: int | None
    ) -> None:
        self._line = line
        self._inner = inner
        self._number = number
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        chunks = aiter(self._inner)
        try:
            while chunk := await self._line.while_wanted(self._number, anext(chunks, b"")):
                size += len(chunk)
                if self._most is not None and size > self._most:
                    self._line.cut_off(self._number, ServerGone(_TOO_MUCH))
                    return
                self._line.count(chunk)
                yield chunk
        except _GivenUp:
            return
        except httpx.HTTPError as exc:
            told = ToolError(f"The server's response was cut off: {_sentence(exc)}")
            self._line.cut_off(self._number, told)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _sentence(error: Exception) -> str:
    return (str(error) or type(error).__name__).rstrip(".") + "."


def _object(body: bytes) -> JsonObject:
    try:
        message: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
