"""Speaks to servers at an address, with the protocol's own package. It is heavy: see `remote`.

Its requests go over this server's guarded connections: see `line`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter

from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import GuardedTransport
from tools.errors import ToolError
from tools.mcp.exchange import (
    MAX_MESSAGE_BYTES,
    Exchange,
    Greeted,
    ServerGone,
    SignInNeeded,
    greet,
    serving,
)
from tools.mcp.line import NUMBER, Line

# Whoever answers a greeting with these may speak the older way.
# Source: https://modelcontextprotocol.io/specification/2025-06-18/basic/transports
_ANOTHER_WAY = frozenset({400, 404, 405})
# They write addresses and what servers say; what matters is told to who asked.
logging.getLogger("mcp").setLevel(logging.CRITICAL)
logging.getLogger("httpx2").setLevel(logging.WARNING)


class _Messages:
    """A wire over the package's streams. `version` is what was agreed on, once it was."""

    def __init__(self, line: Line, incoming: Any, outgoing: Any) -> None:  # Any: private classes
        self._line, self._incoming, self._outgoing = line, incoming, outgoing
        self.version = ""

    @property
    def is_over(self) -> bool:
        return self._line.failed.done()

    async def send(self, message: JsonObject) -> None:
        headers = {MCP_PROTOCOL_VERSION_HEADER: self.version} if self.version else None
        sent = SessionMessage(
            jsonrpc_message_adapter.validate_python(message, by_name=False),
            ClientMessageMetadata(headers=headers),
        )
        number = message.get("id") if "method" in message else None
        token = NUMBER.set(number if isinstance(number, int) else 0)
        try:
            await self._line.until_failed(self._outgoing.send(sent))
        finally:
            NUMBER.reset(token)

    async def receive(self) -> JsonObject:
        found = await self._line.until_failed(self._incoming.receive())
        if isinstance(found, Exception):
            raise ServerGone("The server sent an invalid protocol message.") from found
        message: JsonObject = found.message.model_dump(
            by_alias=True, mode="json", exclude_unset=True
        )
        if "method" not in message and isinstance(number := message.get("id"), int):
            self._line.forget(number)
        return message

    def give_up(self, number: int) -> None:
        self._line.give_up(number)

    def agree(self, hello: JsonObject) -> None:
        """Say in later messages which version was agreed on."""
        self.version = str(hello.get("protocolVersion", ""))


@contextlib.asynccontextmanager
async def connect(
    url: str, *, headers: Mapping[str, str], samples: bool = False
) -> AsyncIterator[Greeted]:
    """Greet a server: by streamable HTTP, and where it does not know that, by SSE.

    Raises: ToolError, SignInNeeded where it wants a sign-in.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            greeted = await stack.enter_async_context(_open(url, headers, samples, by_events=False))
        except _SpokenDifferently as first:
            try:
                greeted = await stack.enter_async_context(
                    _open(url, headers, samples, by_events=True)
                )
            except SignInNeeded:
                raise
            except ToolError as exc:
                raise ToolError(first.message) from exc
        yield greeted


class _SpokenDifferently(ToolError):
    pass


@contextlib.asynccontextmanager
async def _open(
    url: str, headers: Mapping[str, str], samples: bool, *, by_events: bool
) -> AsyncIterator[Greeted]:
    async with GuardedTransport() as inner:
        line = Line(inner, listens=by_events)
        client = httpx2.AsyncClient(transport=line, headers=dict(headers), trust_env=False)
        transport = _by_events(url, client) if by_events else _by_requests(url, client)
        is_greeted = False
        try:
            async with transport as (incoming, outgoing):
                wire = _Messages(line, incoming, outgoing)
                exchange = Exchange(wire, samples=samples)
                line.on_failure = exchange.fail
                async with serving(exchange):
                    greeted = await greet(exchange, on_hello=wire.agree)
                    is_greeted = True
                    yield greeted
        except (ToolError, ExceptionGroup, httpx2.HTTPError, httpx2.InvalidURL) as exc:
            error = _why(line, exc)
            speaks = is_greeted or by_events or line.status not in _ANOTHER_WAY
            if not speaks and isinstance(error, ToolError):
                raise _SpokenDifferently(error.message) from exc
            if error is exc:
                raise
            raise error from exc


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


def _why(line: Line, error: Exception) -> Exception:
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
