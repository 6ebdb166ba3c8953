"""What goes out live: the events that were just committed, and messages that may be lost.

Groups: `team.<id>` carries everything of a team's sessions; `session.<id>` only what is in the log
of one, for those who wait for its end; `rail.<team id>` says only which session changed in a way
that a list of sessions shows.

Bodies, by `t`:
* `events`   {session, root?, team, directory, project, events: [{id, seq, type, data, time}]};
             time in ms, `root` for a sub-agent
* `deltas`   {deltas: [{t: "delta", session, team, directory, project, message, part, field, offset,
             text}]}; of many sessions, offset in characters; `stream.hub` hands them out one by one
* `estimate` {session, team, directory, project, context, limit, tokens, cost}: what an answer that
             streams has used so far, as `Estimate` has it
* `progress` {session, team, directory, part}: the whole part of a running tool, not in the log
* `edited`   {session, team, directory, files: {absolute path: add, change or unlink}}: what a tool
             has just done
* `servers`  {session, team, directory}: a language server of the session has begun or ended
* `deleted`  {session, team, directory, project, info}: the session is gone, `info` is what it was
* `terminal` {kind, user, team, project, directory, info, code}: for one person only; `info` is a
             `Pty` of the wire
* `place`    {team, project, directory, type, properties}: an event of a project or a worktree, as
             the API has it
* `session`  {session, deleted?}: on the rail only
* `project`  {project, status, detail}: on the rail and on `project.<id>` while files are prepared
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from opencode_web.lib.bus import publish
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.models import Checkout, Event, Project, Session, Terminal
from sessions.wire import project_to_wire, session_to_wire, terminal_to_wire

FileEvent = Literal["add", "change", "unlink"]
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


def project_group(project_id: str) -> str:
    """Returns: the group that follows the preparation of a project's files."""
    return f"project.{project_id}"


def to_record(event: Event) -> JsonObject:
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


def _address(session: Session) -> JsonObject:
    project = session.project
    return {
        "session": session.pk,
        # The session at the top, for a sub-agent's.
        **({"root": session.root_id} if session.root_id else {}),
        "team": project.team_id,
        "project": project.pk,
        "directory": session.directory,
    }


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
    def of(cls, body: JsonObject) -> Estimate:
        """Read it from what was published."""
        context, limit, tokens, cost = (body[key] for key in ("context", "limit", "tokens", "cost"))
        assert context is None or isinstance(context, int)
        assert isinstance(limit, int)
        assert isinstance(tokens, int)
        return cls(context, limit, tokens, None if cost is None else Decimal(str(cost)))


def _publish(session: Session, body: JsonObject) -> None:
    # This order: who has seen something in the session's group can rely on the team's having it.
    publish(team_group(session.project.team_id), body)
    publish(session_group(session.pk), body)


def publish_events(session: Session, events: Sequence[Event]) -> None:
    """Tell everybody who watches. Call it only after the commit."""
    _publish(
        session,
        {"t": "events", **_address(session), "events": [to_record(event) for event in events]},
    )
    if any(
        event.type.startswith(_RAIL) or _begins_or_ends_call(session, event) for event in events
    ):
        body: JsonObject = {"t": "session", "session": session.top_id}
        publish(rail_group(session.project.team_id), body)


def _begins_or_ends_call(session: Session, event: Event) -> bool:
    """Whether a list of sessions says something else of what runs. Sub-agents are in none."""
    part = event.data.get("part")
    if event.type != "part.updated" or session.root_id or not isinstance(part, dict):
        return False
    state = part.get("state")
    return part.get("type") == "tool" and isinstance(state, dict) and state["status"] != "pending"


def publish_deleted(session: Session) -> None:
    """Tell everybody that the session is gone, after the commit that removed it."""
    info = session_to_wire(session)
    body: JsonObject = {"t": "deleted", **_address(session), "info": info}
    _publish(session, body)
    publish(
        rail_group(session.project.team_id),
        {"t": "session", "session": session.pk, "deleted": True},
    )


def publish_deltas(deltas: Iterable[Delta]) -> None:
    """Pieces of texts that grow, in one message for each team whose sessions they belong to."""
    by_team: dict[str, list[JsonValue]] = {}
    for delta in deltas:
        body: JsonObject = {
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
        publish(team_group(team_id), {"t": "deltas", "deltas": together})


def publish_estimate(session: Session, guess: Estimate) -> None:
    """What the answer that streams has used so far. The true figures come with its end."""
    body: JsonObject = {
        "t": "estimate",
        **_address(session),
        "context": guess.context,
        "limit": guess.limit,
        "tokens": guess.tokens,
        "cost": None if guess.cost is None else str(guess.cost),
    }
    publish(team_group(session.project.team_id), body)


def publish_progress(session: Session, part: JsonObject) -> None:
    """The state of a running tool between its durable transitions."""
    body: JsonObject = {"t": "progress", **_address(session), "part": part}
    publish(team_group(session.project.team_id), body)


def publish_edited(session: Session, changes: Mapping[str, FileEvent]) -> None:
    """Files that a tool has just written or removed, by their paths from the worktree."""
    files: JsonObject = {f"{session.worktree}/{path}": kind for path, kind in changes.items()}
    body: JsonObject = {"t": "edited", **_address(session), "files": files}
    publish(team_group(session.project.team_id), body)


def publish_servers(session: Session) -> None:
    """A language server of the session has begun, failed or ended; clients ask for the list."""
    publish(team_group(session.project.team_id), {"t": "servers", **_address(session)})


def publish_project(project: Project) -> None:
    """What a project is called and how far its files are, for its page, lists and the API."""
    body: JsonObject = {
        "t": "project",
        "project": project.pk,
        "status": project.status,
        "detail": project.status_detail,
    }
    publish(project_group(project.pk), body)
    publish(rail_group(project.team_id), body)
    if project.status != Project.Status.PREPARING:
        # How far it is with its files is nothing that the API tells.
        _publish_place(project, project.directory, "project.updated", project_to_wire(project))


def publish_worktree(checkout: Checkout, *, problem: str = "") -> None:
    """The worktree of a session is there, or why it could not be made."""
    named: JsonObject = {"name": checkout.branch, "branch": checkout.branch}
    kind = "worktree.failed" if problem else "worktree.ready"
    properties: JsonObject = {"message": problem} if problem else named
    _publish_place(checkout.project, checkout.folder, kind, properties)


def publish_branch(project: Project, branch: str) -> None:
    """The project's folder is on another branch now; empty for none."""
    properties: JsonObject = {"branch": branch} if branch else {}
    _publish_place(project, project.directory, "vcs.branch.updated", properties)


def publish_mcp_tools(project: Project, server: str) -> None:
    """An MCP server of the project offers other tools than before, or has stopped answering."""
    _publish_place(project, project.directory, "mcp.tools.changed", {"server": server})


def _publish_place(project: Project, directory: str, kind: str, properties: JsonObject) -> None:
    body: JsonObject = {
        "t": "place",
        "team": project.team_id,
        "project": project.pk,
        "directory": directory,
        "type": kind,
        "properties": properties,
    }
    publish(team_group(project.team_id), body)


def publish_command(session: Session, *, name: str, arguments: str, message_id: str) -> None:
    """Somebody ran a command; `message_id` is the prompt that came of it. For clients of the API.

    Lossy: the prompt itself is what counts.
    """
    body: JsonObject = {
        "t": "command",
        **_address(session),
        "name": name,
        "arguments": arguments,
        "message": message_id,
    }
    publish(team_group(session.project.team_id), body)


def publish_terminal(
    terminal: Terminal, kind: Literal["created", "updated", "exited", "deleted"]
) -> None:
    """What became of a terminal, for its own person."""
    project = terminal.project
    body: JsonObject = {
        "t": "terminal",
        "kind": kind,
        "user": terminal.creator_id,
        "team": project.team_id,
        "project": project.pk,
        "directory": terminal.directory,
        "info": terminal_to_wire(terminal),
        "code": terminal.exit_code,
    }
    publish(team_group(project.team_id), body)
