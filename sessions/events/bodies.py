"""Bodies of the messages on the bus, told apart by `t`.

`TeamBody` is on the group of a team, `SessionBody` on that of a session, `RailBody` on the rail of
a team, `PresenceBody` on its presence, and `PersonBody` on the group of a user. Those of terminals
are in `sessions.terminals.link`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from opencode_web.lib.json import JsonObject
from sessions.events.stored import StoredTool
from teams.access import AccessChanged

FileEvent = Literal["add", "change", "unlink"]
TerminalEvent = Literal["created", "updated", "exited", "deleted"]


class Record(TypedDict):
    """A stored event. Units: `time` is milliseconds since the epoch."""

    id: int
    seq: int
    type: str
    data: JsonObject
    time: int


class Address(TypedDict):
    """The session that a body is about. `root` is the session at the top, for a sub-agent's."""

    session: str
    root: NotRequired[str]
    team: str
    project: str
    directory: str
    # The owner of a session at the top that is private: the message may come before the news of it.
    private_to: NotRequired[int | None]


class EventsBody(Address):
    """What was just committed to the session's log, in order."""

    t: Literal["events"]
    events: list[Record]


class DeltaBody(Address):
    """A piece of growing text. Units: `offset` is characters of the part before it."""

    t: Literal["delta"]
    message: str
    part: str
    field: Literal["text"]
    offset: int
    text: str


class DeltasBody(TypedDict):
    """Pieces of many sessions of a team. `stream.hub` hands them out one by one."""

    t: Literal["deltas"]
    deltas: list[DeltaBody]


class EstimateBody(Address):
    """What an answer that streams has used so far, as `live.Estimate` has it."""

    t: Literal["estimate"]
    context: int | None
    limit: int
    tokens: int
    cost: str | None


class ProgressBody(Address):
    """The whole part of a running tool. It is not in the log."""

    t: Literal["progress"]
    part: StoredTool


class EditedBody(Address):
    """What a tool has just done to files, by their absolute paths."""

    t: Literal["edited"]
    files: dict[str, FileEvent]


class ServersBody(Address):
    """A language server of the session has begun or ended."""

    t: Literal["servers"]


class CommandBody(Address):
    """Somebody ran a command; `message` is the id of the prompt that came of it."""

    t: Literal["command"]
    name: str
    arguments: str
    message: str


class DeletedBody(Address):
    """The session is gone; `info` is what it was on the wire."""

    t: Literal["deleted"]
    info: JsonObject


class TerminalBody(TypedDict):
    """For one person only; `info` is a `Pty` of the wire."""

    t: Literal["terminal"]
    kind: TerminalEvent
    user: int
    team: str
    project: str
    directory: str
    info: JsonObject
    code: int | None


class PlaceBody(TypedDict):
    """An event of a project or a worktree, as the API has it. `session`: whose worktree it is."""

    t: Literal["place"]
    session: NotRequired[str]
    team: str
    project: str
    directory: str
    type: str
    properties: JsonObject


class RowBody(TypedDict):
    """A session changed in a way that a list of sessions shows, or is gone."""

    t: Literal["session"]
    session: str
    deleted: NotRequired[Literal[True]]


class InboxBody(TypedDict):
    """What waits for people of the team, beside sessions, is different now."""

    t: Literal["inbox"]


RailBody: TypeAlias = RowBody | InboxBody


class PersonThere(TypedDict):
    """Somebody who looks at a session. `id` is the user's."""

    id: int
    name: str
    writes: bool


class PresentBody(TypedDict):
    """The people in one process's room of a session."""

    t: Literal["present"]
    session: str
    room: str
    people: list[PersonThere]


class WhoBody(TypedDict):
    """Asks every room of a session who is there."""

    t: Literal["who"]
    session: str


class ToldBody(TypedDict):
    """What one client of a person tells the others: an event of the API and its path."""

    t: Literal["tui"]
    type: str
    properties: JsonObject
    path: str


LiveBody = (
    DeltaBody
    | EstimateBody
    | ProgressBody
    | EditedBody
    | ServersBody
    | CommandBody
    | DeletedBody
    | TerminalBody
    | PlaceBody
)
TeamBody = EventsBody | LiveBody
SessionBody = EventsBody | DeletedBody
PresenceBody = PresentBody | WhoBody
PersonBody = ToldBody | AccessChanged
