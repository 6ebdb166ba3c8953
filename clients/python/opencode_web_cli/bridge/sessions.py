"""A session that an editor has open."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from opencode_web_cli.bridge.options import Chosen
from opencode_web_cli.bridge.place import Paths, Place
from opencode_web_cli.bridge.server import Json, Server, session_path
from opencode_web_cli.bridge.transcripts import Emit, Transcript
from opencode_web_cli.bridge.updates import chunk, plan


@dataclass(eq=False)
class Turn:
    """A prompt of this editor that has not been answered."""

    message_id: str = ""
    is_cancelled: bool = False


@dataclass(eq=False)
class OpenSession:
    """Whoever emits holds `lock`, so that what is shown stays in order."""

    server: Server
    info: Json
    place: Place
    chosen: Chosen
    emit: Emit
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    turns: set[Turn] = field(default_factory=set)
    # Why a turn ended before anybody answered.
    last_error: Json | None = None
    # Whether the editor has asked for the events as they are.
    wants_events: bool = False

    def __post_init__(self) -> None:
        self.paths: Paths = self.place.paths_of(self.info)
        self.transcript = Transcript(self.paths, self.directory, self.emit)
        self.title = str(self.info["title"])

    def open_at(self, info: Json, place: Place) -> None:
        """The editor opens it again, maybe from another folder."""
        self.info, self.place, self.paths = info, place, place.paths_of(info)
        self.transcript.move(self.paths, self.directory)

    @property
    def id(self) -> str:
        return str(self.info["id"])

    @property
    def directory(self) -> str:
        """Where it works on the server."""
        return str(self.info["directory"])

    @property
    def cwd(self) -> str:
        """The same for the editor."""
        return self.paths.to_local(self.directory) or self.paths.local

    async def call(self, method: str, rest: str = "", *, body: Any = None, **query: Any) -> Any:
        """Call a route of the session. Raises: Refused, Lost."""
        return await self.server.call(method, session_path(self.id, rest), body=body, **query)

    async def read_messages(self) -> list[Json]:
        """Returns: the whole history. Raises: Refused."""
        rows = await self.server.insist("GET", session_path(self.id, "/message"))
        return list(rows)

    async def say(self, text: str) -> None:
        """Tell what the agent has not said."""
        content = {"type": "text", "text": text}
        async with self.lock:
            await self.emit(chunk("agent_message", "msg_opencode_web", content))

    async def catch_up(self) -> list[Json]:
        """Show what has not been shown. Returns: the history."""
        async with self.lock:
            rows = await self.read_messages()
            await self.transcript.show(rows)
        return rows

    async def take(self, kind: str, event: Json) -> None:
        """An event of this session."""
        async with self.lock:
            match kind:
                case "message.updated":
                    self.transcript.note_message(event["info"])
                case "message.part.updated":
                    await self.transcript.part(event["part"])
                case "message.part.delta":
                    await self.transcript.delta(event)
                case "todo.updated":
                    await self.emit(plan(event["todos"]))
                case "session.updated":
                    await self._retitle(event["info"])
                case "session.error":
                    self.last_error = event.get("error")

    async def _retitle(self, info: Json) -> None:
        self.info = {**self.info, **info}
        if info["title"] != self.title:
            self.title = str(info["title"])
            await self.emit({"sessionUpdate": "session_info_update", "title": self.title})
