"""Servers that are programs: each runs in the sandbox and is sent a message a line."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.mcp.exchange import (
    MAX_MESSAGE_BYTES,
    Exchange,
    Greeted,
    NotBegun,
    Rate,
    ServerGone,
    greet,
    serving,
)
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.service import Service, open_service

# Larger ones are read in a thread, so that the loop is not held up.
_LARGE_BYTES = 128 * 1024
# What a server may send within ten seconds: a few of the largest messages.
_WINDOW_BYTES = 4 * MAX_MESSAGE_BYTES


class Lines:
    """The messages of a program that speaks on its pipes."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._buffer = bytearray()
        much = f"The server sent more than {_WINDOW_BYTES >> 20} MiB within ten seconds."
        self._received = Rate(_WINDOW_BYTES, much)
        self.is_over = False

    def give_up(self, number: int) -> None:
        """There is nothing to be closed: the pipe stays."""

    async def send(self, message: JsonObject) -> None:
        if not await self._service.write(json.dumps(message).encode() + b"\n"):
            why = self._service.stopped or await self._service.last_words()
            raise NotBegun(f"The server has ended{f': {why}' if why else '.'}")

    async def receive(self) -> JsonObject:
        line = self.message_in(await self._line())
        # Some print a greeting before they speak the protocol.
        if line.lstrip()[:1] != b"{":
            return {}
        large = len(line) > _LARGE_BYTES
        message = await asyncio.to_thread(_decode, line) if large else _decode(line)
        return message if isinstance(message, dict) else {}

    def message_in(self, line: bytes) -> bytes:
        """Returns: what of a line may be a message."""
        return line

    async def _line(self) -> bytes:
        seen = 0
        while (end := self._buffer.find(b"\n", seen)) < 0:
            seen = len(self._buffer)
            if seen > MAX_MESSAGE_BYTES:
                raise ServerGone(
                    f"The server sent more than {MAX_MESSAGE_BYTES >> 20} MiB at once."
                )
            chunk = await self._service.read()
            if not chunk:
                self.is_over = True
                why = self._service.stopped or await self._service.last_words()
                raise ServerGone(
                    f"The server exited without a response{f': {why}' if why else '.'}"
                )
            self._received.count(len(chunk))
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
    """A server that is a program."""

    sandbox: Sandbox
    command: Command
    # Whether it may ask for answers of a model.
    samples: bool = False

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
                # What the server finds at this path is the worktree too.
                roots = (self.sandbox.layout.worktree,)
                exchange = Exchange(Lines(service), roots, self.samples)
                async with serving(exchange):
                    yield await greet(exchange)
        except SandboxError as exc:
            raise ToolError(f"The server could not be started: {exc}") from exc
