"""Rows to the shapes of OpenCode's HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, NotRequired

from django.utils import timezone
from pydantic import BeforeValidator
from typing_extensions import TypedDict

from opencode_web.lib.json import JsonObject, text_of
from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.models import (
    Message,
    Part,
    PermissionRequest,
    Project,
    QuestionRequest,
    Session,
    SessionInput,
    State,
    Terminal,
    WaitsFor,
)
from sessions.shares.links import share_url
from teams.models import User
from tools.permissions.rules import Action

# The version of OpenCode whose API this server speaks.
API_VERSION = "1.18.33"
# What clients of OpenCode read, and send back, where no variant of a model is chosen.
DEFAULT_VARIANT = "default"
Variant = Annotated[
    str | None, BeforeValidator(lambda value: None if value == DEFAULT_VARIANT else value)
]
_NO_CHANGES: Summary = {"additions": 0, "deletions": 0, "files": 0}
# Checked where they are written.
Rule = Annotated[JsonObject, Unchecked("sessions.api.schemas.PermissionRule")]


class Times(TypedDict):
    """Units: milliseconds since the epoch."""

    created: int
    updated: int
    archived: NotRequired[int | None]
    compacting: NotRequired[int | None]


class Summary(TypedDict):
    """Units: `additions` and `deletions` are lines."""

    additions: int
    deletions: int
    files: int


class ShareWire(TypedDict):
    url: str


class SessionWire(TypedDict):
    id: str
    slug: str
    projectID: str
    directory: str
    path: str
    title: str
    version: str
    cost: float
    """Units: USD."""
    tokens: Annotated[JsonObject, Unchecked("sessions.events.messages.Tokens")]
    time: Times
    summary: Summary
    share: NotRequired[ShareWire | None]
    parentID: NotRequired[str | None]
    agent: NotRequired[str | None]
    model: NotRequired[Annotated[JsonObject, Unchecked("sessions.api.schemas.SessionModel")] | None]
    permission: NotRequired[list[Rule] | None]
    metadata: NotRequired[JsonObject | None]
    revert: NotRequired[Annotated[JsonObject, Unchecked("sessions.events.removal.Revert")] | None]
    private: NotRequired[bool | None]


class IdleStatus(TypedDict):
    type: Literal["idle"]


class BusyStatus(TypedDict):
    type: Literal["busy"]


class RetryStatus(TypedDict):
    """`next` is the time of the retry, in milliseconds."""

    type: Literal["retry"]
    attempt: int
    message: str
    next: int


StatusWire = IdleStatus | BusyStatus | RetryStatus


class PromptFile(TypedDict):
    uri: str
    mime: str
    name: NotRequired[str]


class PromptAgent(TypedDict):
    name: str


class PromptText(TypedDict):
    text: str
    files: NotRequired[list[PromptFile]]
    agents: NotRequired[list[PromptAgent]]


class AdmittedInput(TypedDict):
    admittedSeq: int
    id: str
    sessionID: str
    prompt: PromptText
    delivery: Annotated[str, Unchecked(Literal["steer", "queue"])]
    timeCreated: int
    promotedSeq: NotRequired[int]


class Person(TypedDict):
    id: int
    name: str


class _Edited(TypedDict, total=False):
    editedBy: Person | None


class WaitingInput(AdmittedInput, _Edited):
    """`revision` goes into a change; the order of a list is the order of sending."""

    status: Annotated[str, Unchecked(Literal["admitted", "promoted", "cancelled"])]
    revision: int
    author: Person | None


class CallRef(TypedDict):
    messageID: str
    callID: str


class MessageWire(TypedDict):
    info: Annotated[JsonObject, Unchecked("sessions.api.openapi.MessageInfo")]
    parts: list[Annotated[JsonObject, Unchecked("sessions.events.parts.AnyPart")]]


class PermissionRequestWire(TypedDict):
    id: str
    sessionID: str
    permission: str
    patterns: list[str]
    always: list[str]
    metadata: JsonObject
    tool: CallRef


class QuestionRequestWire(TypedDict):
    id: str
    sessionID: str
    questions: list[Annotated[JsonObject, Unchecked("sessions.events.questions.QuestionInfo")]]
    tool: CallRef


class ProjectTimes(TypedDict):
    """Units: milliseconds since the epoch."""

    created: int
    updated: int
    initialized: int


class ProjectWire(TypedDict):
    id: str
    worktree: str
    vcs: Literal["git"]
    name: str
    icon: NotRequired[Annotated[JsonObject, Unchecked("sessions.api.schemas.ProjectIcon")]]
    time: ProjectTimes
    sandboxes: list[str]
    remote: NotRequired[str]
    """Where its repository was cloned from. It never holds credentials."""


class Pty(TypedDict):
    id: str
    title: str
    command: str
    args: list[str]
    cwd: str
    status: Literal["running", "exited"]
    pid: int
    exitCode: NotRequired[int]


class CreatedTime(TypedDict):
    """Units: milliseconds since the epoch."""

    created: int


def to_ms(time: datetime) -> int:
    """Units: milliseconds since the epoch."""
    return int(time.timestamp() * 1000)


# The columns that `session_to_wire` reads.
SESSION_COLUMNS = (
    *("id", "slug", "project_id", "folder", "path", "title", "cost", "tokens", "parent_id"),
    *("agent", "model", "permission", "metadata", "summary", "revert", "share"),
    *("created_at", "updated_at", "archived_at", "compacting_at", "is_private"),
)


def session_to_wire(session: Session) -> SessionWire:
    """Returns: a session. Optional fields are absent, never null."""
    times: Times = {
        "created": to_ms(session.created_at),
        "updated": to_ms(session.updated_at),
        "archived": to_ms(session.archived_at) if session.archived_at else None,
        "compacting": to_ms(session.compacting_at) if session.compacting_at else None,
    }
    wire: SessionWire = {
        "id": session.pk,
        "slug": session.slug,
        "projectID": session.project_id,
        "directory": session.directory,
        "path": session.path,
        "title": session.title,
        "version": API_VERSION,
        "cost": float(session.cost),
        "tokens": session.tokens,
        "time": drop_none(times),
        "summary": session.summary or _NO_CHANGES,
        "share": _share(session.share),
        "parentID": session.parent_id or None,
        "agent": session.agent or None,
        "model": {"variant": DEFAULT_VARIANT, **session.model} if session.model else None,
        "permission": [_rule_to_wire(rule) for rule in session.permission or ()] or None,
        "metadata": session.metadata or None,
        "revert": {k: v for k, v in session.revert.items() if k != "restored"} or None,
        # Ours: absent for those that everybody sees who sees the project, and for sub-agents.
        "private": session.is_private or None,
    }
    return drop_none(wire)


def _rule_to_wire(rule: JsonObject) -> JsonObject:
    return {**rule, "action": Action(str(rule["action"])).for_clients.value}


def _share(share: JsonObject) -> ShareWire | None:
    """A link for members of the team: it opens nothing to whoever else reads the session."""
    share_id, until = share.get("id"), share.get("until")
    if not isinstance(share_id, str) or (isinstance(until, int) and until <= to_ms(timezone.now())):
        return None
    return {"url": share_url(share_id)}


_RETRIES = (WaitsFor.RETRY, WaitsFor.FUNDS, WaitsFor.ROOM)


def status_to_wire(session: Session) -> StatusWire:
    """Returns: `SessionStatus`. Waiting for a person is busy there: the turn is not over."""
    if session.waits_for in _RETRIES and session.wake_at is not None:
        # What waits for a budget or for room says so to these clients in the same words.
        return {
            "type": "retry",
            "attempt": session.attempt or 1,
            "message": session.outcome_detail,
            "next": to_ms(session.wake_at),
        }
    return {"type": "idle"} if session.state == State.IDLE else {"type": "busy"}


def message_to_wire(message: Message, parts: list[Part]) -> MessageWire:
    """Returns: `{info, parts}`."""
    return {"info": message.data, "parts": [part.data for part in parts]}


def with_deadline(metadata: JsonObject, until: datetime | None) -> JsonObject:
    """Returns: the metadata of a request with `until`, in milliseconds, where it has a deadline."""
    return metadata if until is None else {**metadata, "until": to_ms(until)}


def permission_to_wire(request: PermissionRequest) -> PermissionRequestWire:
    """Returns: `PermissionRequest`."""
    return {
        "id": request.pk,
        "sessionID": request.session_id,
        "permission": request.permission,
        "patterns": request.patterns,
        "metadata": with_deadline(request.metadata, request.expires_at),
        "always": request.always,
        "tool": {"messageID": request.message_id, "callID": request.call_id},
    }


def question_to_wire(request: QuestionRequest) -> QuestionRequestWire:
    """Returns: `QuestionRequest`."""
    return {
        "id": request.pk,
        "sessionID": request.session_id,
        "questions": request.questions,
        "tool": {"messageID": request.message_id, "callID": request.call_id},
    }


def prompt_to_wire(parts: Sequence[JsonObject]) -> PromptText:
    """Returns: `Prompt` of the second version of the API, of the parts that somebody sent."""
    texts = [part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic")]
    prompt: PromptText = {"text": "\n\n".join(str(text) for text in texts)}
    files: list[PromptFile] = [
        {"uri": text_of(one, "url"), "mime": text_of(one, "mime"), "name": text_of(one, "filename")}
        for one in parts
        if one["type"] == "file"
    ]
    if files:
        prompt["files"] = files
    if agents := [text_of(part, "name") for part in parts if part["type"] == "agent"]:
        prompt["agents"] = [{"name": name} for name in agents]
    return prompt


def admitted_to_wire(row: SessionInput) -> AdmittedInput:
    """Returns: `SessionInputAdmitted` of the second version of the API."""
    wire: AdmittedInput = {
        "admittedSeq": row.admitted_seq,
        "id": row.pk,
        "sessionID": row.session_id,
        "prompt": prompt_to_wire(row.data["parts"]),
        "delivery": row.delivery,
        "timeCreated": to_ms(row.created_at),
    }
    if row.promoted_seq is not None:
        wire["promotedSeq"] = row.promoted_seq
    return wire


def input_to_wire(row: SessionInput) -> WaitingInput:
    """Returns: an input of the inbox, a shape of our own. `author` and `edited_by` are loaded."""
    edited: _Edited = {"editedBy": _person(row.edited_by)} if row.edited_by else {}
    return {
        **admitted_to_wire(row),
        "status": row.status,
        "revision": row.revision,
        "author": _person(row.author),
        **edited,
    }


def _person(user: User | None) -> Person | None:
    return {"id": user.pk, "name": user.display_name} if user else None


def project_to_wire(project: Project) -> ProjectWire:
    """Returns: `Project`."""
    created = to_ms(project.created_at)
    wire: ProjectWire = {
        "id": project.pk,
        "worktree": project.directory,
        "vcs": "git",
        "name": project.name,
        "time": {"created": created, "updated": created, "initialized": created},
        "sandboxes": [],
    }
    if project.icon:
        wire["icon"] = project.icon
    if project.git_url:
        wire["remote"] = project.git_url
    return wire


def terminal_to_wire(terminal: Terminal) -> Pty:
    """Returns: `Pty`. One that starts is running there."""
    wire: Pty = {
        "id": terminal.pk,
        "title": terminal.title,
        "command": terminal.command,
        "args": [*terminal.args],
        "cwd": terminal.cwd,
        "status": "exited" if terminal.status == Terminal.Status.EXITED else "running",
        "pid": terminal.pid,
    }
    if terminal.exit_code is not None:
        wire["exitCode"] = terminal.exit_code
    return wire
