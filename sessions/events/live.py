"""What goes out live: the events that were just committed, and messages that may be lost.

Groups: `team.<id>` carries everything of a team's sessions; `session.<id>` only what is in the log
of one, for those who wait for its end; `rail.<team id>` says only which session changed in a way
that a list of sessions shows.

Their bodies are in `sessions.events.bodies`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from opencode_web.lib.bus import publish
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import as_json
from sessions.events.bodies import (
    Address,
    CommandBody,
    DeletedBody,
    DeltaBody,
    DeltasBody,
    EditedBody,
    EstimateBody,
    FileEvent,
    LiveBody,
    PlaceBody,
    ProgressBody,
    RailBody,
    Record,
    SessionBody,
    TerminalBody,
    TerminalEvent,
)
from sessions.events.stored import StoredTool
from sessions.models import Checkout, Event, Project, Session, Terminal
from sessions.wire import project_to_wire, session_to_wire, terminal_to_wire

_RAIL = ("session.", "permission.", "question.", "input.", "inputs.")


def session_group(session_id: str) -> str:
    """Returns: the group of one session: what is in its log, and its removal."""
    return f"session.{session_id}"


def team_group(team_id: str) -> str:
    """Returns: the group of everything that the sessions of a team send."""
    return f"team.{team_id}"


def rail_group(team_id: str) -> str:
    """Returns: the group that says which sessions of a team changed in a list."""
    return f"rail.{team_id}"


def to_record(event: Event) -> Record:
    """Returns: the form in which a stored event travels and is rendered."""
    # A baseline can have a hundred kilobytes, and nobody who watches is shown it.
    data = {} if event.type.startswith("context.") else event.data
    return {
        "id": event.pk,
        "seq": event.seq,
        "type": event.type,
        "data": data,
        "time": int(event.time.timestamp() * 1000),
    }


def _address(session: Session) -> Address:
    project = session.project
    address: Address = {
        "session": session.pk,
        "team": project.team_id,
        "project": project.pk,
        "directory": session.directory,
    }
    if session.root_id:
        address["root"] = session.root_id
    elif session.is_private:
        address["private_to"] = session.owner_id
    return address


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of growing text. `offset` is the number of characters before it."""

    session: Session
    message_id: str
    part_id: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A guess at what an answer that streams has used so far.

    `context` is what the conversation takes up with it, None where that is nothing of this answer;
    `limit` is 0 and `cost` None while they are not known. Units: tokens, US dollars.
    """

    context: int | None
    limit: int
    tokens: int
    cost: Decimal | None

    @classmethod
    def of(cls, body: EstimateBody) -> Estimate:
        """Read it from what was published."""
        cost = None if body["cost"] is None else Decimal(body["cost"])
        return cls(body["context"], body["limit"], body["tokens"], cost)


def _publish(session: Session, body: SessionBody) -> None:
    # This order: who has seen something in the session's group can rely on the team's having it.
    publish(team_group(session.project.team_id), body)
    publish(session_group(session.pk), body)


def _publish_to_team(team_id: str, body: LiveBody | DeltasBody) -> None:
    publish(team_group(team_id), body)


def _publish_to_rail(team_id: str, body: RailBody) -> None:
    publish(rail_group(team_id), body)


def publish_inbox(team_id: str) -> None:
    """Have open pages count again what waits for people, after the commit."""
    _publish_to_rail(team_id, {"t": "inbox"})


def publish_events(session: Session, events: Sequence[Event]) -> None:
    """Tell everybody who watches. Call it only after the commit."""
    _publish(
        session,
        {"t": "events", **_address(session), "events": [to_record(event) for event in events]},
    )
    if any(
        event.type.startswith(_RAIL) or _begins_or_ends_call(session, event) for event in events
    ):
        publish_row(session)


def _begins_or_ends_call(session: Session, event: Event) -> bool:
    """Whether a list of sessions says something else of what runs. Sub-agents are in none."""
    part = event.data.get("part")
    if event.type != "part.updated" or session.root_id or not isinstance(part, dict):
        return False
    state = part.get("state")
    return part.get("type") == "tool" and isinstance(state, dict) and state["status"] != "pending"


def publish_row(session: Session) -> None:
    """Lists say something else of the session, after a commit without an event."""
    _publish_to_rail(session.project.team_id, {"t": "session", "session": session.top_id})


def publish_deleted(session: Session) -> None:
    """Tell everybody that the session is gone, after the commit that removed it."""
    top = session.root or session
    body: DeletedBody = {
        "t": "deleted",
        **_address(session),
        "info": as_json(session_to_wire(session)),
    }
    if top.is_private:
        # Nobody can look up any more what a sub-agent belonged to.
        body["private_to"] = top.owner_id
    _publish(session, body)
    _publish_to_rail(
        session.project.team_id, {"t": "session", "session": session.pk, "deleted": True}
    )


def publish_deltas(deltas: Iterable[Delta]) -> None:
    """Pieces of texts that grow, in one message for each team whose sessions they belong to."""
    by_team: dict[str, list[DeltaBody]] = {}
    for delta in deltas:
        body: DeltaBody = {
            "t": "delta",
            **_address(delta.session),
            "message": delta.message_id,
            "part": delta.part_id,
            "field": "text",
            "offset": delta.offset,
            "text": delta.text,
        }
        by_team.setdefault(delta.session.project.team_id, []).append(body)
    for team_id, together in by_team.items():
        _publish_to_team(team_id, {"t": "deltas", "deltas": together})


def publish_estimate(session: Session, guess: Estimate) -> None:
    """What the answer that streams has used so far. The true figures come with its end."""
    body: EstimateBody = {
        "t": "estimate",
        **_address(session),
        "context": guess.context,
        "limit": guess.limit,
        "tokens": guess.tokens,
        "cost": None if guess.cost is None else str(guess.cost),
    }
    _publish_to_team(session.project.team_id, body)


def publish_progress(session: Session, part: StoredTool) -> None:
    """The state of a running tool between its durable transitions."""
    body: ProgressBody = {"t": "progress", **_address(session), "part": part}
    _publish_to_team(session.project.team_id, body)


def publish_edited(session: Session, changes: Mapping[str, FileEvent]) -> None:
    """Files that a tool has just written or removed, by their paths from the worktree."""
    files = {f"{session.worktree}/{path}": kind for path, kind in changes.items()}
    body: EditedBody = {"t": "edited", **_address(session), "files": files}
    _publish_to_team(session.project.team_id, body)


def publish_servers(session: Session) -> None:
    """A language server of the session has begun, failed or ended; clients ask for the list."""
    _publish_to_team(session.project.team_id, {"t": "servers", **_address(session)})


def publish_project(project: Project) -> None:
    """What a project is called, for clients of the API."""
    if project.status != Project.Status.PREPARING:
        # How far it is with its files is nothing that the API tells.
        _publish_place(
            project, project.directory, "project.updated", as_json(project_to_wire(project))
        )


def publish_worktree(checkout: Checkout, *, problem: str = "") -> None:
    """The worktree of a session is there, or why it could not be made."""
    named: JsonObject = {"name": checkout.branch, "branch": checkout.branch}
    kind = "worktree.failed" if problem else "worktree.ready"
    properties: JsonObject = {"message": problem} if problem else named
    _publish_place(
        checkout.project, checkout.folder, kind, properties, session_id=checkout.session_id or ""
    )


def publish_branch(project: Project, branch: str) -> None:
    """The project's folder is on another branch now; empty for none."""
    properties: JsonObject = {"branch": branch} if branch else {}
    _publish_place(project, project.directory, "vcs.branch.updated", properties)


def publish_mcp_tools(project: Project, server: str) -> None:
    """An MCP server of the project offers other tools than before, or has stopped answering."""
    _publish_place(project, project.directory, "mcp.tools.changed", {"server": server})


def _publish_place(
    project: Project, directory: str, kind: str, properties: JsonObject, *, session_id: str = ""
) -> None:
    body: PlaceBody = {
        "t": "place",
        "team": project.team_id,
        "project": project.pk,
        "directory": directory,
        "type": kind,
        "properties": properties,
    }
    if session_id:
        body["session"] = session_id
    _publish_to_team(project.team_id, body)


def publish_command(session: Session, *, name: str, arguments: str, message_id: str) -> None:
    """Somebody ran a command; `message_id` is the prompt that came of it. For clients of the API.

    Lossy: the prompt itself is what counts.
    """
    body: CommandBody = {
        "t": "command",
        **_address(session),
        "name": name,
        "arguments": arguments,
        "message": message_id,
    }
    _publish_to_team(session.project.team_id, body)


def publish_terminal(terminal: Terminal, kind: TerminalEvent) -> None:
    """What became of a terminal, for its own person."""
    project = terminal.project
    body: TerminalBody = {
        "t": "terminal",
        "kind": kind,
        "user": terminal.creator_id,
        "team": project.team_id,
        "project": project.pk,
        "directory": terminal.directory,
        "info": as_json(terminal_to_wire(terminal)),
        "code": terminal.exit_code,
    }
    _publish_to_team(project.team_id, body)
