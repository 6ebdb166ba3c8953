"""What an editor has been shown of a session, so that everything is shown once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from opencode_web_cli.bridge.place import Paths
from opencode_web_cli.bridge.server import Json
from opencode_web_cli.bridge.updates import ToolView, chunk, user_content

Emit = Callable[[Json], Awaitable[None]]


@dataclass
class _Shown:
    """A part: how much of its text the editor has, or how its call was."""

    message: str
    kind: str
    text: str = ""
    state: Json | None = None
    is_over: bool = False
    # A piece of its text may be missing, so only the whole text says how it goes on.
    has_gap: bool = False


@dataclass
class Transcript:
    """Events, and messages that are read again, may come twice and in any order."""

    paths: Paths
    folder: str
    emit: Emit
    # Prompts of this editor, which it shows itself.
    own: set[str] = field(default_factory=set)
    roles: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, _Shown] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.move(self.paths, self.folder)

    def move(self, paths: Paths, folder: str) -> None:
        """From now on files have other names for the editor."""
        self.paths, self.view = paths, ToolView(paths, folder)

    def note_message(self, info: Json) -> None:
        """What a part says of itself does not tell whose message it is in."""
        self.roles[info["id"]] = info["role"]

    def mark(self, rows: list[Json]) -> None:
        """Take what is over of messages for shown, without a word."""
        for row in rows:
            self.note_message(row["info"])
            for part in row["parts"]:
                if _is_over(part) or row["info"]["role"] == "user":
                    self._parts[part["id"]] = _Shown(
                        part["messageID"], part["type"], str(part.get("text", "")), is_over=True
                    )

    async def show(self, rows: list[Json]) -> None:
        """Show of messages what is missing."""
        for row in rows:
            self.note_message(row["info"])
            for part in row["parts"]:
                await self.part(part)
        # What comes of a text that still grows need not be what follows it.
        self.lose()

    async def replay(self, rows: list[Json]) -> None:
        """Show messages from the beginning, also to an editor that has had them."""
        self._parts.clear()
        own, self.own = self.own, set()
        await self.show(rows)
        self.own = own

    def lose(self) -> None:
        """Pieces of texts may have been missed."""
        for shown in self._parts.values():
            shown.has_gap = not shown.is_over

    async def delta(self, event: Json) -> None:
        """A piece of a text."""
        shown = self._parts.get(event["partID"])
        if shown is None or shown.is_over or shown.has_gap or event["field"] != "text":
            return
        shown.text += event["delta"]
        await self._say(event["partID"], shown, event["delta"])

    async def part(self, part: Json) -> None:
        """A part as it is now."""
        if self.roles.get(part["messageID"]) == "user":
            await self._user_part(part)
        elif part["type"] in ("text", "reasoning"):
            await self._text(part)
        elif part["type"] == "tool":
            await self._call(part)

    def call_of_child(self, session_id: str) -> str | None:
        """Returns: the id of the call that a sub-agent's session works for."""
        for shown in self._parts.values():
            state = shown.state or {}
            if (state.get("metadata") or {}).get("sessionId") == session_id:
                return str(state["callID"])
        return None

    async def _user_part(self, part: Json) -> None:
        if part["messageID"] in self.own or part["id"] in self._parts:
            return
        self._parts[part["id"]] = _Shown(part["messageID"], part["type"], is_over=True)
        content = user_content(part, self.paths)
        if content is not None and content.get("text") != "":
            await self.emit(chunk("user_message", part["messageID"], content))

    async def _text(self, part: Json) -> None:
        shown = self._parts.setdefault(part["id"], _Shown(part["messageID"], part["type"]))
        if shown.is_over or part.get("ignored"):
            return
        known, text = shown.text, str(part["text"])
        shown.is_over = _is_over(part)
        if text.startswith(known):
            shown.text, rest = text, text[len(known) :]
        elif known.startswith(text) or not shown.is_over:
            # A server that was killed may have kept less than it had shown.
            return
        else:
            # What is shown cannot be taken back, so the true text follows it.
            shown.text, rest = text, f"\n\n{text}"
        if rest:
            await self._say(part["id"], shown, rest)

    async def _say(self, part_id: str, shown: _Shown, text: str) -> None:
        content = {"type": "text", "text": text}
        if shown.kind == "reasoning":
            await self.emit(chunk("agent_thought", part_id, content))
        else:
            await self.emit(chunk("agent_message", shown.message, content))

    async def _call(self, part: Json) -> None:
        shown = self._parts.get(part["id"])
        is_over = _is_over(part)
        if shown is None:
            shown = self._parts[part["id"]] = _Shown(part["messageID"], "tool")
            await self.emit(self.view.begun(part, is_over=is_over))
        update = None if shown.is_over else self.view.state(part)
        if update is None:
            return
        state = {"callID": part["callID"], "metadata": part["state"].get("metadata"), **update}
        if state == shown.state:
            return
        shown.state, shown.is_over = state, is_over
        await self.emit(update)


def _is_over(part: Json) -> bool:
    match part["type"]:
        case "text" | "reasoning":
            return bool((part.get("time") or {}).get("end"))
        case "tool":
            return part["state"]["status"] in ("completed", "error")
    return True
