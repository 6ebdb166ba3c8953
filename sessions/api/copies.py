"""Copies of a project, as clients name its worktrees."""

from __future__ import annotations

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.ids import new_slug
from sessions.access import access_project, access_session
from sessions.actions.checkouts import Plan, request_drop
from sessions.actions.sessions import MAX_TITLE_CHARS, create_session
from sessions.api.auth import ApiRequest
from sessions.api.checkouts import session_at
from teams.models import Role

router = Router(tags=["worktree"])


class NameBody(Schema):
    """What the copy is for."""

    context: str = Field(default="", max_length=10_000)


class CopyBody(Schema):
    """`directory` is the folder that is copied: one of the project."""

    strategy: str = Field(max_length=60)
    directory: str = Field(default="", max_length=1000)
    name: str = Field(default="", max_length=MAX_TITLE_CHARS)


class CopyFolder(Schema):
    """The folder of a copy. Nothing is lost with `force` either: unmerged work is rescued."""

    directory: str = Field(max_length=1000)
    force: bool = False


class CopyName(TypedDict):
    name: str


class Copy(TypedDict):
    directory: str


@router.post(
    "/experimental/project/{project_id}/copy/generate-name", summary="A name for a new worktree"
)
def generate_name(request: ApiRequest, project_id: str, body: NameBody | None = None) -> CopyName:
    access_project(request.auth, project_id)
    return {"name": new_slug()}


@router.post(
    "/experimental/project/{project_id}/copy/refresh",
    response={204: None},
    summary="Nothing to refresh: worktrees are known",
)
def refresh_copies(request: ApiRequest, project_id: str) -> None:
    access_project(request.auth, project_id)


@router.post(
    "/experimental/project/{project_id}/copy", summary="Begin a session with its own git worktree"
)
def create_copy(request: ApiRequest, project_id: str, body: CopyBody) -> Copy:
    access = access_project(request.auth, project_id, need=Role.MEMBER)
    if body.strategy != "git_worktree":
        raise Invalid("The only supported strategy is git_worktree.")
    session = create_session(access, title=body.name, checkout=Plan())
    return {"directory": session.directory}


@router.delete(
    "/experimental/project/{project_id}/copy",
    response={204: None},
    summary="Remove a worktree; unmerged work is kept on a rescue branch",
)
def remove_copy(request: ApiRequest, project_id: str, body: CopyFolder) -> None:
    access_project(request.auth, project_id, need=Role.MEMBER)
    session_id = session_at(request, body.directory)
    request_drop(access_session(request.auth, session_id, need=Role.MEMBER))
