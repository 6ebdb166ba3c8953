"""Rows to the shapes of OpenCode's HTTP API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from django.utils import timezone
from pydantic import BeforeValidator

from opencode_web.lib.json import JsonObject, JsonValue
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
_NO_CHANGES: JsonObject = {"additions": 0, "deletions": 0, "files": 0}


def to_ms(time: datetime) -> int:
    """Units: milliseconds since the epoch."""
    return int(time.timestamp() * 1000)


# The columns that `session_to_wire` reads.
SESSION_COLUMNS = (
    *("id", "slug", "project_id", "folder", "path", "title", "cost", "tokens", "parent_id"),
    *("agent", "model", "permission", "metadata", "summary", "revert", "share"),
    *("created_at", "updated_at", "archived_at", "compacting_at"),
)


def session_to_wire(session: Session) -> JsonObject:
    """Returns: `Session`. Optional fields are absent, never null."""
    time: JsonObject = {"created": to_ms(session.created_at), "updated": to_ms(session.updated_at)}
    if session.archived_at:
        time["archived"] = to_ms(session.archived_at)
    if session.compacting_at:
        time["compacting"] = to_ms(session.compacting_at)
    wire: JsonObject = {
        "id": session.pk,
        "slug": session.slug,
        "projectID": session.project_id,
        "directory": session.directory,
        "path": session.path,
        "title": session.title,
        "version": API_VERSION,
        "cost": float(session.cost),
        "tokens": session.tokens,
        "time": time,
        "summary": session.summary or _NO_CHANGES,
    }
    optional: dict[str, JsonValue] = {
        "share": _share(session.share),
        "parentID": session.parent_id,
        "agent": session.agent,
        "model": session.model and {"variant": DEFAULT_VARIANT, **session.model},
        "permission": [_rule_to_wire(rule) for rule in session.permission or ()],
        "metadata": session.metadata,
        "revert": {key: value for key, value in session.revert.items() if key != "restored"},
    }
    wire.update({key: value for key, value in optional.items() if value})
    return wire


def _rule_to_wire(rule: JsonObject) -> JsonObject:
    return {**rule, "action": Action(str(rule["action"])).for_clients.value}


def _share(share: JsonObject) -> JsonObject:
    """A link for members of the team: it opens nothing to whoever else reads the session."""
    share_id, until = share.get("id"), share.get("until")
    if not isinstance(share_id, str) or (isinstance(until, int) and until <= to_ms(timezone.now())):
        return {}
    return {"url": share_url(share_id)}


_RETRIES = (WaitsFor.RETRY, WaitsFor.FUNDS, WaitsFor.ROOM)


def status_to_wire(session: Session) -> JsonObject:
    """Returns: `SessionStatus`. Waiting for a person is busy there: the turn is not over."""
    if session.waits_for in _RETRIES and session.wake_at is not None:
        # What waits for a budget or for room says so to these clients in the same words.
        return {
            "type": "retry",
            "attempt": session.attempt or 1,
            "message": session.outcome_detail,
            "next": to_ms(session.wake_at),
        }
    return {"type": "idle" if session.state == State.IDLE else "busy"}


def message_to_wire(message: Message, parts: list[Part]) -> JsonObject:
    """Returns: `{info, parts}`."""
    return {"info": message.data, "parts": [part.data for part in parts]}


def with_deadline(metadata: JsonObject, until: datetime | None) -> JsonObject:
    """Returns: the metadata of a request with `until`, in milliseconds, where it has a deadline."""
    return metadata if until is None else {**metadata, "until": to_ms(until)}


def permission_to_wire(request: PermissionRequest) -> JsonObject:
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


def question_to_wire(request: QuestionRequest) -> JsonObject:
    """Returns: `QuestionRequest`."""
    return {
        "id": request.pk,
        "sessionID": request.session_id,
        "questions": request.questions,
        "tool": {"messageID": request.message_id, "callID": request.call_id},
    }


def prompt_to_wire(parts: Sequence[JsonObject]) -> JsonObject:
    """Returns: `Prompt` of the second version of the API, of the parts that somebody sent."""
    texts = [part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic")]
    prompt: JsonObject = {"text": "\n\n".join(str(text) for text in texts)}
    files: list[JsonValue] = [
        {"uri": part["url"], "mime": part["mime"], "name": part.get("filename", "")}
        for part in parts
        if part["type"] == "file"
    ]
    if files:
        prompt["files"] = files
    agents: list[JsonValue] = [{"name": part["name"]} for part in parts if part["type"] == "agent"]
    if agents:
        prompt["agents"] = agents
    return prompt


def admitted_to_wire(row: SessionInput) -> JsonObject:
    """Returns: `SessionInputAdmitted` of the second version of the API."""
    wire: JsonObject = {
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


def input_to_wire(row: SessionInput) -> JsonObject:
    """Returns: an input of the inbox, a shape of our own. `author` and `edited_by` are loaded."""
    wire = admitted_to_wire(row)
    wire |= {"status": row.status, "revision": row.revision, "author": _person(row.author)}
    if row.edited_by is not None:
        wire["editedBy"] = _person(row.edited_by)
    return wire


def _person(user: User | None) -> JsonValue:
    return {"id": user.pk, "name": user.display_name} if user else None


def project_to_wire(project: Project) -> JsonObject:
    """Returns: `Project`."""
    created = to_ms(project.created_at)
    icon: JsonObject = {"icon": project.icon} if project.icon else {}
    return {
        "id": project.pk,
        "worktree": project.directory,
        "vcs": "git",
        "name": project.name,
        "time": {"created": created, "updated": created, "initialized": created},
        "sandboxes": [],
        **icon,
    }


def terminal_to_wire(terminal: Terminal) -> JsonObject:
    """Returns: `Pty`. One that starts is running there."""
    has_ended = terminal.status == Terminal.Status.EXITED
    wire: JsonObject = {
        "id": terminal.pk,
        "title": terminal.title,
        "command": terminal.command,
        "args": [*terminal.args],
        "cwd": terminal.cwd,
        "status": "exited" if has_ended else "running",
        "pid": terminal.pid,
    }
    if terminal.exit_code is not None:
        wire["exitCode"] = terminal.exit_code
    return wire
