"""What a tool row is made of: the call as it came, and how it looks. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from opencode_web.lib.json import JsonObject, text_of
from sessions.events.stored import StoredState
from sessions.present.changes.file_diff import file_id
from sessions.present.conversation.bodies import Body, output_body
from sessions.present.conversation.subagent_work import FindBelow, nothing_below
from sessions.present.place import Place

DEFAULT = "sessions/tools/_default.html"


@dataclass(frozen=True)
class Looks:
    """`tail` is what a call has come to that runs, or that failed."""

    verb: str
    object: str
    numbers: str = ""
    added: int | None = None
    removed: int | None = None
    template: str = ""
    body: Body | None = None
    open: bool = False
    # The page of the session that it has started.
    open_url: str = ""
    tail: str = ""
    # Why it could not even be called.
    refused: str = ""
    # It ran to its end, and that was none to be content with.
    failed: bool = False
    # The object is language, not a path, a pattern or a command.
    words: bool = False


@dataclass(frozen=True)
class Call:
    """`id` is that of the part. `waits`: a person has to answer before it runs."""

    id: str
    tool: str
    state: StoredState
    place: Place
    whole: bool
    waits: bool = False
    below: FindBelow = field(default=nothing_below)
    # `<server>: <tool>` of an MCP server's.
    server_tool: str = ""
    # A person typed it, and who, where that is known.
    typed: bool = False
    author: str = ""
    # A person ended it.
    stopped: bool = False

    @property
    def status(self) -> str:
        return "stopped" if self.stopped else self.state["status"]

    @property
    def url(self) -> str:
        return self.place.body_url(self.id)

    @property
    def input(self) -> JsonObject:
        return self.state.get("input", {})

    @property
    def metadata(self) -> JsonObject:
        return self.state.get("metadata", {})

    @property
    def path(self) -> str:
        given = text_of(self.input, "filePath") or text_of(self.input, "path")
        return self.place.short(given)

    @property
    def failed(self) -> bool:
        return self.status in ("error", "stopped")

    @property
    def changes_url(self) -> str:
        """Where the file of the call is in the changes of the session; empty for a shared link."""
        return changes_url(self.place, self.path)


Draw = Callable[[Call], Looks]


def changes_url(place: Place, path: str) -> str:
    """Where a file is in the changes of the session. Empty where there is no such page."""
    base = place.changes_of(path)
    return f"{base}#file-{file_id(path)}" if base and path else ""


def plain(call: Call) -> Body | None:
    """Input and output as they are. None while there is nothing."""
    return output_body(
        call.state, place=call.place, url=call.url, whole=call.whole, part_id=call.id
    )
