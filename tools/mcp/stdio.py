"""Servers that are programs: each runs in the sandbox and is sent a message a line."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.mcp.exchange import MAX_MESSAGE_BYTES, Exchange, Greeted, greet
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.service import Service, open_service

# Larger ones are read in a thread, so that the loop is not held up.
_LARGE_BYTES = 128 * 1024


class _Lines:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._buffer = bytearray()

    async def send(self, message: JsonObject) -> None:
        await self._service.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> JsonObject:
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
                raise ToolError(f"The server sent more than {MAX_MESSAGE_BYTES >> 20} MiB at once.")
            chunk = await self._service.read()
            if not chunk:
                why = self._service.stopped or await self._service.last_words()
                raise ToolError(f"The server exited without a response{f': {why}' if why else '.'}")
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


@dataclass(frozen=True)
class Program:
    """A server that is started for the time it is asked."""

    sandbox: Sandbox
    command: Command

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[Greeted]:
        """Start it; it is gone with all it started when the block is left.

        Raises: ToolError where nothing can be run.
        """
        if self.sandbox.refusal:
            raise ToolError(self.sandbox.refusal)
        if not isinstance(self.sandbox, BubblewrapSandbox):
            raise ToolError("MCP servers only run in the sandbox, which is not available here.")
        try:
            async with open_service(self.sandbox, self.command) as service:
                yield await greet(Exchange(_Lines(service)))
        except SandboxError as exc:
            raise ToolError(f"The server could not be started: {exc}") from exc
