"""JSON-RPC with one server, a message a line, one request at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.service import Service, open_service

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
# What a server may say before it answers a request; more is one that never comes to an end.
_MAX_UNASKED = 10_000
_METHOD_NOT_FOUND = -32601
# Larger ones are read in a thread, so that the loop is not held up.
_LARGE_BYTES = 128 * 1024


class Exchange:
    """Asks a server. What it asks for itself is refused, but for a sign of life."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._last_id = 0
        self._buffer = bytearray()

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask, and wait for the answer: the time is the caller's to limit.

        Raises: ToolError saying what the server said, or why it cannot answer.
        """
        self._last_id += 1
        await self._send({"id": self._last_id, "method": method, "params": params})
        for _ in range(_MAX_UNASKED):
            message = await self._next()
            if isinstance(asked := message.get("method"), str):
                await self._refuse(asked, message.get("id"))
            elif message.get("id") == self._last_id:
                return _result(message)
        raise ToolError("It says so much that its answer was not waited for.")

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
        await self._service.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _next(self) -> JsonObject:
        while True:
            line = await self._line()
            # Some print a greeting before they speak the protocol.
            if line.lstrip()[:1] != b"{":
                continue
            large = len(line) > _LARGE_BYTES
            message = await asyncio.to_thread(_decode, line) if large else _decode(line)
            if isinstance(message, dict):
                return message

    async def _line(self) -> bytes:
        seen = 0
        while (end := self._buffer.find(b"\n", seen)) < 0:
            seen = len(self._buffer)
            if seen > MAX_MESSAGE_BYTES:
                raise ToolError(f"It sent more than {MAX_MESSAGE_BYTES >> 20} MiB at once.")
            chunk = await self._service.read()
            if not chunk:
                why = self._service.stopped or await self._service.last_words()
                raise ToolError(f"It ended without an answer{f': {why}' if why else '.'}")
            self._buffer += chunk
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line


def _decode(line: bytes) -> JsonValue:
    try:
        value: JsonValue = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value


def _result(message: JsonObject) -> JsonObject:
    error = message.get("error")
    if isinstance(error, dict):
        raise ToolError(f"It refused: {str(error.get('message', ''))[:2_000]}")
    result = message.get("result")
    return result if isinstance(result, dict) else {}


@contextlib.asynccontextmanager
async def open_exchange(sandbox: Sandbox, command: Command) -> AsyncIterator[Exchange]:
    """Start a server; it is gone with all it started when the block is left.

    Raises: ToolError where nothing can be run.
    """
    if sandbox.refusal:
        raise ToolError(sandbox.refusal)
    if not isinstance(sandbox, BubblewrapSandbox):
        raise ToolError("MCP servers run only in the sandbox, and there is none here.")
    try:
        async with open_service(sandbox, command) as service:
            yield Exchange(service)
    except SandboxError as exc:
        raise ToolError(f"It could not be started: {exc}") from exc
