from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from django.db.models import Q
from ninja import Field, Query, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from sessions.access import access_session, visible_sessions
from sessions.actions.checkouts import Plan, choose_plan, plan_commit
from sessions.actions.sessions import WorkFolder, create_session, delete_session, update_session
from sessions.api.auth import ApiRequest
from sessions.api.location import Location, below, directory_of, find_location, require_location
from sessions.api.schemas import PermissionRule, SessionCreate, SessionPatch
from sessions.changes.turn_diffs import diffs_of, newest_diffs
from sessions.events.todos import TodoItem
from sessions.models import Message, Project, Session, State
from sessions.todos import load_todos
from sessions.visibility import sessions_in
from sessions.wire import SESSION_COLUMNS, SessionWire, StatusWire, session_to_wire, status_to_wire
from teams.models import Role

router = Router(tags=["session"])

MAX_LISTED = 1_000


class SessionFilter(Schema):
    roots: bool = False
    # Units: milliseconds since the epoch.
    start: float | None = None
    search: str = ""
    limit: int = 100
    scope: Literal["project"] | None = None
    path: str | None = Field(
        None, description="Sessions of this folder and of those below it; of all when empty."
    )


class FileDiff(TypedDict):
    file: str
    patch: str
    additions: int
    deletions: int
    status: Literal["added", "deleted", "modified"]


def _rules(rules: list[PermissionRule]) -> list[JsonObject]:
    return [rule.model_dump() for rule in rules]


@router.get("/session", summary="Sessions of a project, the latest first")
def list_sessions(
    request: ApiRequest, filters: Annotated[SessionFilter, Query()]
) -> list[SessionWire]:
    location = find_location(request)
    if location is None:
        return []
    # Only what is shown is read.
    rows = sessions_in(location.access.team).filter(project=location.project)
    rows = rows.only(*SESSION_COLUMNS)
    rows = rows.filter(_in_folder(request, filters, location))
    if filters.roots:
        rows = rows.filter(parent=None)
    if filters.start is not None:
        rows = rows.filter(updated_at__gte=to_time(filters.start))
    if filters.search:
        rows = rows.filter(title__icontains=filters.search)
    limit = max(0, min(filters.limit, MAX_LISTED))
    found = rows.order_by("-updated_at", "pk")[:limit]
    for row in found:
        row.project = location.project
    return [session_to_wire(row) for row in found]


def _in_folder(request: ApiRequest, filters: SessionFilter, location: Location) -> Q:
    """A client that names a folder sees the sessions of that folder, unless it asks for more."""
    if filters.path is not None:
        return below(filters.path)
    return Q() if filters.scope or directory_of(request) is None else Q(path=location.path)


def to_time(ms: float) -> datetime:
    """Raises: Invalid for what is no moment."""
    try:
        return datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError) as exc:
        raise Invalid(f"Not a time in milliseconds: {ms}", kind="Query") from exc


@router.post("/session", summary="Create a session")
def post_session(request: ApiRequest, body: SessionCreate | None = None) -> SessionWire:
    body = body or SessionCreate()
    parent: Session | None = None
    if body.parentID:
        parent = access_session(request.auth, body.parentID).session
    location = require_location(request, need=Role.MEMBER)
    if parent is not None and parent.project_id != location.project.pk:
        raise Invalid("The parent session is in another project.")
    session = create_session(
        location.access,
        title=body.title or "",
        agent=body.agent or "",
        model=body.model.to_json() if body.model else None,
        permission=_rules(body.permission),
        metadata=body.metadata,  # type: ignore[arg-type]  # it came as JSON
        parent=parent,
        folder=WorkFolder(location.folder, location.path),
        checkout=_plan(body, location.project) if parent is None else None,
        private=body.private,
    )
    return session_to_wire(session)


def _plan(body: SessionCreate, project: Project) -> Plan | None:
    # OpenCode's clients say nothing of it, and expect the folder that they named.
    named = bool(body.branch or body.commit or body.ref)
    worktree = named if body.worktree is None else body.worktree
    plan = choose_plan(project, worktree=worktree, branch=body.branch)
    if not body.commit and not body.ref:
        return plan
    return plan_commit(project, plan, commit=body.commit, ref=body.ref)


@router.get("/session/status", summary="Sessions that are not idle")
def session_status(request: ApiRequest) -> dict[str, StatusWire]:
    rows = visible_sessions(request.auth).exclude(state=State.IDLE)
    return {session.pk: status_to_wire(session) for session in rows}


@router.get("/session/{session_id}", summary="One session")
def get_session(request: ApiRequest, session_id: str) -> SessionWire:
    return session_to_wire(access_session(request.auth, session_id).session)


@router.patch("/session/{session_id}", summary="Rename, archive or annotate a session")
def patch_session(request: ApiRequest, session_id: str, body: SessionPatch) -> SessionWire:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    session = update_session(
        access,
        title=body.title,
        metadata=body.metadata,  # type: ignore[arg-type]  # it came as JSON
        permission=None if body.permission is None else _rules(body.permission),
        archived_ms=body.time.archived,
    )
    return session_to_wire(session)


@router.delete("/session/{session_id}", summary="Delete a session with its history")
def remove_session(request: ApiRequest, session_id: str) -> bool:
    delete_session(access_session(request.auth, session_id, need=Role.MEMBER))
    return True


@router.get("/session/{session_id}/children", summary="Sessions started by this one")
def list_children(request: ApiRequest, session_id: str) -> list[SessionWire]:
    parent = access_session(request.auth, session_id).session
    rows = visible_sessions(request.auth).filter(parent=parent)
    return [session_to_wire(row) for row in rows.order_by("created_at", "pk")]


@router.get("/session/{session_id}/todo", summary="The list that the agent keeps of its work")
def list_todos(
    request: ApiRequest, session_id: str
) -> list[Annotated[JsonObject, Unchecked(TodoItem)]]:
    return load_todos(access_session(request.auth, session_id).session.pk)


@router.get("/session/{session_id}/diff", summary="Changed files of a turn, the newest by default")
def list_diffs(
    request: ApiRequest, session_id: str, messageID: str = ""
) -> list[Annotated[JsonObject, Unchecked(FileDiff)]]:
    session = access_session(request.auth, session_id).session
    if not messageID:
        return newest_diffs(session)
    prompt = Message.objects.visible(session).filter(role="user", pk=messageID).first()
    return diffs_of(prompt.data) if prompt else []
