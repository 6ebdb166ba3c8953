from __future__ import annotations

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from sessions.access import SessionAccess, access_session, checkouts_in, visible_sessions
from sessions.actions.checkouts import (
    MAX_MESSAGE_CHARS,
    Plan,
    checkout_of,
    request_commit,
    request_drop,
    request_look,
    request_merge,
    request_push,
    request_restore,
)
from sessions.actions.sessions import MAX_TITLE_CHARS, create_session
from sessions.api.approvals import or_request
from sessions.api.auth import ApiRequest
from sessions.api.location import require_location
from sessions.api.projects import STANDING
from sessions.models import Checkout
from sessions.present.pages.checkouts import Worktree, checkout_to_wire
from teams.models import Role

router = Router(tags=["worktree"])


class WorktreeBody(Schema):
    """A name for the session that the worktree is made for."""

    name: str = Field(default="", max_length=MAX_TITLE_CHARS)
    startCommand: str = ""


class FolderBody(Schema):
    """The folder of a worktree."""

    directory: str = Field(max_length=1000)


class CommitBody(Schema):
    """The message of a commit."""

    message: str = Field(max_length=MAX_MESSAGE_CHARS)


class PushBody(Schema):
    """Where to push to, else where the project was cloned from. A credential is used once."""

    url: str = Field(default="", max_length=1000)


class NewWorktree(TypedDict):
    name: str
    branch: str
    directory: str


@router.get("/experimental/worktree", summary="Folders of the worktrees of a project's sessions")
def list_worktrees(request: ApiRequest) -> list[str]:
    rows = checkouts_in(require_location(request).access).filter(state__in=STANDING)
    return list(rows.order_by("-created_at").values_list("folder", flat=True))


@router.post("/experimental/worktree", summary="Begin a session with its own git worktree")
def create_worktree(request: ApiRequest, body: WorktreeBody | None = None) -> NewWorktree:
    """Its folder is made when its first turn begins; sessions made in it share it."""
    location = require_location(request, need=Role.MEMBER)
    body = body or WorktreeBody()
    if body.startCommand.strip():
        raise Invalid("Start scripts for worktrees are not supported. Leave this empty.")
    session = create_session(location.access, title=body.name, checkout=Plan())
    return checkout_to_wire(Checkout.objects.get(session=session))


@router.delete(
    "/experimental/worktree", summary="Remove a worktree; unmerged work is kept on a rescue branch"
)
def remove_worktree(request: ApiRequest, body: FolderBody) -> bool:
    session_id = session_at(request, body.directory)
    request_drop(_member(request, session_id))
    return True


@router.post("/experimental/worktree/reset", summary="Not offered: remove it and make another")
def reset_worktree(request: ApiRequest, body: FolderBody) -> bool:
    _member(request, session_at(request, body.directory))
    raise Conflict(
        "Worktrees cannot be reset, so that no work is lost. Remove the worktree, which "
        "rescues unmerged work, and start another one."
    )


def session_at(request: ApiRequest, folder: str) -> str:
    """Returns: the session whose worktree is there. Raises: NotFound, also for another team's."""
    rows = Checkout.objects.filter(folder=folder.rstrip("/"), session__isnull=False)
    row = rows.filter(session__in=visible_sessions(request.auth)).first()
    if row is None or row.session_id is None:
        raise NotFound("Worktree", folder[:300])
    return row.session_id


@router.get("/session/{session_id}/worktree", summary="The session's own git worktree")
def get_worktree(request: ApiRequest, session_id: str) -> Worktree:
    row = checkout_of(access_session(request.auth, session_id).session)
    if row is None:
        raise NotFound("Worktree of the session", session_id)
    return checkout_to_wire(row)


def _member(request: ApiRequest, session_id: str) -> SessionAccess:
    return access_session(request.auth, session_id, need=Role.MEMBER)


@router.post("/session/{session_id}/worktree/look", summary="Compare it with the project again")
def look(request: ApiRequest, session_id: str) -> Worktree:
    return checkout_to_wire(request_look(access_session(request.auth, session_id)))


@router.post("/session/{session_id}/worktree/commit", summary="Commit every change in your name")
def commit(request: ApiRequest, session_id: str, body: CommitBody) -> Worktree:
    access = _member(request, session_id)
    return checkout_to_wire(request_commit(access, message=body.message))


@router.post("/session/{session_id}/worktree/merge", summary="Merge it into the project's branch")
@or_request
def merge(request: ApiRequest, session_id: str) -> Worktree:
    return checkout_to_wire(request_merge(_member(request, session_id)))


@router.post("/session/{session_id}/worktree/push", summary="Push its branch")
@or_request
def push(request: ApiRequest, session_id: str, body: PushBody | None = None) -> Worktree:
    access = _member(request, session_id)
    return checkout_to_wire(request_push(access, url=body.url if body else ""))


@router.post(
    "/session/{session_id}/worktree/drop",
    summary="Remove it; unmerged work is kept on a rescue branch",
)
def drop(request: ApiRequest, session_id: str) -> Worktree:
    return checkout_to_wire(request_drop(_member(request, session_id)))


@router.post(
    "/session/{session_id}/worktree/restore", summary="Bring it back with its rescued work"
)
def restore(request: ApiRequest, session_id: str) -> Worktree:
    return checkout_to_wire(request_restore(_member(request, session_id)))
