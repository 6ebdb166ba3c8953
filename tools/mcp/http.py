"""Speaks to servers at an address, with the protocol's own package. It is heavy: see `remote`.

Requests of the package go over this server's guarded connections. What fails there is told to
whoever waits for an answer: the package would only write it to the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import httpx
import httpx2
from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import LAST_EVENT_ID, streamable_http_client
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.outbound import GuardedTransport
from tools.errors import ToolError
from tools.mcp.exchange import MAX_MESSAGE_BYTES, Exchange, Greeted, SignInNeeded, greet

# Of all answers of one exchange together.
_MAX_BYTES = 4 * MAX_MESSAGE_BYTES
_MAX_ERROR_BYTES = 64 * 1024
_SHOWN_CHARS = 300
_GOODBYE_S = 1.0
# Whoever answers a greeting with these may speak the older way.
# Source: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
_ANOTHER_WAY = frozenset({400, 404, 405})
_OWN_HEADERS = frozenset({"content-length", "transfer-encoding", "content-encoding"})
_T = TypeVar("_T")
# They write addresses and what servers say; what matters is told to who asked.
logging.getLogger("mcp").setLevel(logging.CRITICAL)
logging.getLogger("httpx2").setLevel(logging.WARNING)


class _Line(httpx2.AsyncBaseTransport):
    """The way to one server. `failed` is why it broke down, as soon as it did."""

    def __init__(self, inner: GuardedTransport, *, listens: bool) -> None:
        self._inner = inner
        self._listens = listens
        self._received_bytes = 0
        self.failed: asyncio.Future[ToolError] = asyncio.get_running_loop().create_future()
        # What the last message was answered with.
        self.status = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send what the package wants to send. It is told of failures by an httpx2 error."""
        if request.method == "GET" and not self._listens and LAST_EVENT_ID not in request.headers:
            # Nothing is awaited that was not asked for: an exchange ends with its answer.
            return httpx2.Response(405, request=request)
        if request.method == "DELETE":
            async with asyncio.timeout(_GOODBYE_S):
                return await self._send(request)
        response = await self._send(request)
        self.status = response.status_code
        if response.is_error:
            return await self._refused(response)
        return response

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        headers = {**request.headers, "accept-encoding": "identity"}
        sent = httpx.Request(
            request.method, str(request.url), headers=headers, content=await request.aread()
        )
        try:
            answer = await self._inner.handle_async_request(sent)
        except httpx.HTTPError as exc:
            raise self.fail(ToolError(f"The server cannot be reached: {_sentence(exc)}")) from exc
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        response = httpx2.Response(
            answer.status_code,
            headers=answer.headers.multi_items(),
            stream=_Body(self, answer.stream),
            request=request,
        )
        if answer.headers.get("content-encoding", "identity") != "identity":
            # A small answer could become a very large one here.
            await response.aclose()
            raise self.fail(
                ToolError("The server's response is compressed, although this was not requested.")
            )
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
            raise self.fail(SignInNeeded(response.headers.get("www-authenticate", "")))
        is_error = is_post and isinstance(_object(bytes(body)).get("error"), dict)
        if (is_question or not is_post) and not is_error:
            text = " ".join(body.decode("utf-8", "replace").split())[:_SHOWN_CHARS]
            said = f": {text}" if text else "."
            raise self.fail(
                ToolError(f"The server responded with status {response.status_code}{said}")
            )
        headers = [one for one in response.headers.multi_items() if one[0] not in _OWN_HEADERS]
        return httpx2.Response(
            response.status_code, headers=headers, content=bytes(body), request=response.request
        )

    def fail(self, error: ToolError) -> httpx2.TransportError:
        """Returns: what the package is told instead."""
        if not self.failed.done():
            self.failed.set_result(error)
        return httpx2.TransportError(error.message)

    def count(self, chunk: bytes) -> None:
        """Raises: httpx2.TransportError when it is too much, all in all."""
        self._received_bytes += len(chunk)
        if self._received_bytes > _MAX_BYTES:
            raise self.fail(ToolError(f"The server sent more than {_MAX_BYTES >> 20} MiB."))

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
            raise ToolError("The server closed the connection without a response.") from exc
        finally:
            task.cancel()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, line: _Line, inner: httpx.AsyncByteStream) -> None:
        self._line = line
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._line.count(chunk)
                yield chunk
        except httpx.HTTPError as exc:
            raise self._line.fail(
                ToolError(f"The server's response was cut off: {_sentence(exc)}")
            ) from exc

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Messages:
    """A wire over the package's streams. `version` is what was agreed on, once it was."""

    def __init__(self, line: _Line, incoming: Any, outgoing: Any) -> None:  # Any: private classes
        self._line, self._incoming, self._outgoing = line, incoming, outgoing
        self.version = ""

    async def send(self, message: JsonObject) -> None:
        headers = {MCP_PROTOCOL_VERSION_HEADER: self.version} if self.version else None
        sent = SessionMessage(
            jsonrpc_message_adapter.validate_python(message, by_name=False),
            ClientMessageMetadata(headers=headers),
        )
        await self._line.until_failed(self._outgoing.send(sent))

    async def receive(self) -> JsonObject:
        found = await self._line.until_failed(self._incoming.receive())
        if isinstance(found, Exception):
            raise ToolError("The server sent an invalid protocol message.") from found
        message: JsonObject = found.message.model_dump(
            by_alias=True, mode="json", exclude_unset=True
        )
        return message


@contextlib.asynccontextmanager
async def connect(url: str, *, headers: Mapping[str, str]) -> AsyncIterator[Greeted]:
    """Greet a server: by streamable HTTP, and where it does not know that, by SSE.

    Raises: ToolError, SignInNeeded where it wants a sign-in.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            greeted = await stack.enter_async_context(_open(url, headers, by_events=False))
        except _SpokenDifferently as first:
            try:
                greeted = await stack.enter_async_context(_open(url, headers, by_events=True))
            except SignInNeeded:
                raise
            except ToolError as exc:
                raise ToolError(first.message) from exc
        yield greeted


class _SpokenDifferently(ToolError):
    pass


@contextlib.asynccontextmanager
async def _open(url: str, headers: Mapping[str, str], *, by_events: bool) -> AsyncIterator[Greeted]:
    async with GuardedTransport() as inner:
        line = _Line(inner, listens=by_events)
        client = httpx2.AsyncClient(transport=line, headers=dict(headers), trust_env=False)
        transport = _by_events(url, client) if by_events else _by_requests(url, client)
        try:
            async with transport as (incoming, outgoing):
                wire = _Messages(line, incoming, outgoing)
                try:
                    greeted = await greet(Exchange(wire))
                except ToolError as exc:
                    if line.status in _ANOTHER_WAY and not by_events:
                        raise _SpokenDifferently(exc.message) from exc
                    raise
                wire.version = str(greeted.hello.get("protocolVersion", ""))
                yield greeted
        except ExceptionGroup as group:
            raise _why(line, group) from group
        except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
            raise _why(line, exc) from exc


@contextlib.asynccontextmanager
async def _by_requests(url: str, client: httpx2.AsyncClient) -> AsyncIterator[Any]:  # Any: as below
    async with (
        client,
        streamable_http_client(
            url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


# Any: the streams are of private classes.
def _by_events(url: str, client: httpx2.AsyncClient) -> AbstractAsyncContextManager[Any]:
    def made(*_: Any, **__: Any) -> httpx2.AsyncClient:
        return client

    transport: AbstractAsyncContextManager[Any] = sse_client(url, httpx_client_factory=made)
    return transport


def _why(line: _Line, error: Exception) -> Exception:
    """The package's task groups wrap whatever is raised within them."""
    found = [error]
    while found:
        one = found.pop()
        if isinstance(one, ToolError):
            return one
        if isinstance(one, ExceptionGroup):
            found += one.exceptions
        if isinstance(one, httpx2.HTTPStatusError):
            return ToolError(f"The server responded with status {one.response.status_code}.")
    return line.failed.result() if line.failed.done() else error


def _sentence(error: Exception) -> str:
    return (str(error) or type(error).__name__).rstrip(".") + "."


def _object(body: bytes) -> JsonObject:
    try:
        message: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
