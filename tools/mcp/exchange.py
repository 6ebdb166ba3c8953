"""JSON-RPC with one server, one request at a time, over whatever carries its messages."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError

VERSION = "2025-06-18"
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
# What a server may say before it answers a request; more is one that never comes to an end.
_MAX_UNASKED = 10_000
_METHOD_NOT_FOUND = -32601


class SignInNeeded(ToolError):
    """The server requires a sign-in. `challenge` is its `WWW-Authenticate`."""

    def __init__(self, challenge: str = "") -> None:
        super().__init__("It wants a sign-in.")
        self.challenge = challenge


class Wire(Protocol):
    """Carries messages, each an object."""

    async def send(self, message: JsonObject) -> None:
        """Raises: ToolError when it cannot be sent."""

    async def receive(self) -> JsonObject:
        """Returns: the next message. Raises: ToolError when there is none any more."""


class Exchange:
    """Asks a server. What it asks for itself is refused, but for a sign of life."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._last_id = 0

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask, and wait for the answer: the time is the caller's to limit.

        Raises: ToolError saying what the server said, or why it cannot answer.
        """
        self._last_id += 1
        await self._send({"id": self._last_id, "method": method, "params": params})
        for _ in range(_MAX_UNASKED):
            message = await self._wire.receive()
            if isinstance(asked := message.get("method"), str):
                await self._refuse(asked, message.get("id"))
            elif message.get("id") == self._last_id:
                return _result(message)
        raise ToolError("The server sent too many messages before its response.")

    async def notify(self, method: str) -> None:
        """Tell the server."""
        await self._send({"method": method})

    async def _refuse(self, method: str, number: JsonValue) -> None:
        if not isinstance(number, int | str):
            return  # a notification
        if method == "ping":
            await self._send({"id": number, "result": {}})
            return
        error: JsonObject = {"code": _METHOD_NOT_FOUND, "message": "This is not offered here."}
        await self._send({"id": number, "error": error})

    async def _send(self, message: JsonObject) -> None:
        await self._wire.send({"jsonrpc": "2.0", **message})


def _result(message: JsonObject) -> JsonObject:
    error = message.get("error")
    if isinstance(error, dict):
        raise ToolError(f"The server returned an error: {str(error.get('message', ''))[:2_000]}")
    result = message.get("result")
    return result if isinstance(result, dict) else {}


@dataclass(frozen=True)
class Greeted:
    """A server that has been greeted, and what it said of itself then."""

    exchange: Exchange
    hello: JsonObject


class Server(Protocol):
    """Where a server is, and how it is reached."""

    def connect(self) -> AbstractAsyncContextManager[Greeted]:
        """Reach it; nothing of it is left when the block is. Raises: ToolError."""


async def greet(exchange: Exchange) -> Greeted:
    """Initialize the session. Raises: ToolError."""
    hello = await exchange.request(
        "initialize",
        {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "opencode-web", "version": "1"},
        },
    )
    return Greeted(exchange, hello)
