from __future__ import annotations

from typing import Annotated, NotRequired

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid
from sessions.access import ProjectAccess, access_project, checkouts_in, visible_projects
from sessions.actions.patches import note_repository
from sessions.actions.projects import (
    MAX_NAME_CHARS,
    choose_default,
    create_empty_project,
    create_project_from_folder,
    create_project_from_git,
    update_project,
)
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.config import team_of
from sessions.api.files import where_of
from sessions.api.location import find_location, require_location
from sessions.api.schemas import ProjectIcon
from sessions.browse.ask import browse
from sessions.browse.operations import INIT_REPOSITORY
from sessions.git.branch import branch_of, default_branch_of
from sessions.models import Checkout, Project
from sessions.wire import ProjectWire, project_to_wire
from teams.models import Role

router = Router(tags=["project"])

# The home of commands in the sandbox; the server's own is nobody's business.
HOME = "/agent"
STANDING = (Checkout.State.NEW, Checkout.State.PREPARING, Checkout.State.READY)


class ProjectCommands(Schema):
    """What OpenCode runs when it has made a worktree."""

    start: str | None = None


class ProjectPatch(Schema):
    """Only what is given changes."""

    name: Annotated[str, Field(max_length=MAX_NAME_CHARS)] | None = None
    icon: ProjectIcon | None = None
    commands: ProjectCommands | None = None


class ProjectCreate(Schema):
    """A git address to clone, or a folder below the server's worktrees, or nothing for an empty
    repository, which needs a name."""

    name: str = Field(default="", max_length=MAX_NAME_CHARS)
    url: str = Field(default="", max_length=1000)
    directory: str = Field(default="", max_length=1000)
    restricted: bool = Field(default=False, description="Whether only its members see it")


class Path(TypedDict):
    home: str
    state: str
    config: str
    worktree: str
    directory: str


class ProjectDirectory(TypedDict):
    directory: str
    strategy: NotRequired[str]


@router.get("/path", summary="Where the project is")
def get_path(request: ApiRequest) -> Path:
    location = require_location(request)
    return {
        "home": HOME,
        "state": "",
        "config": "",
        "worktree": location.project.directory,
        "directory": location.directory,
    }


@router.get("/project", summary="Every project you can see")
def list_projects(request: ApiRequest) -> list[ProjectWire]:
    return [project_to_wire(row) for row in visible_projects(request.auth).order_by("name", "pk")]


@router.post("/project", summary="Add a project: clone it, take a folder, or begin an empty one")
def post_project(request: ApiRequest, body: ProjectCreate, team: str = "") -> ProjectWire:
    access = team_of(request, team, need=Role.MEMBER)
    name, restricted = body.name, body.restricted
    if body.url:
        made = create_project_from_git(access, url=body.url, name=name, restricted=restricted)
    elif body.directory:
        made = create_project_from_folder(
            access, path=body.directory, name=name, init=True, restricted=restricted
        )
    else:
        made = create_empty_project(access, name=name, restricted=restricted)
    return project_to_wire(made)


@router.get("/project/current", summary="The named project, else your token's, else the last used")
def current_project(request: ApiRequest) -> ProjectWire:
    return project_to_wire(require_location(request).project)


@router.put("/project/current", summary="Make the named project the default of your token")
def put_current(request: ApiRequest) -> ProjectWire:
    location = require_location(request)
    choose_default(location.access)
    return project_to_wire(location.project)


async def init_git(request: ApiRequest) -> ProjectWire:
    location = await in_db(require_location, request, need=Role.MEMBER)
    if await browse(where_of(location), INIT_REPOSITORY):
        await in_db(note_repository, location.access)
    return project_to_wire(location.project)


# The second name is that of an older version of the API.
for path in ("/project/git/init", "/project/init"):
    router.add_api_operation(
        path,
        ["POST"],
        init_git,
        auth=AsyncTokenOrCookie(),
        summary="Make the project's folder a git repository",
        operation_id=path.strip("/").replace("/", "_"),
    )


@router.patch("/project/{project_id}", summary="Rename a project, or give it another look")
def patch_project(request: ApiRequest, project_id: str, body: ProjectPatch) -> ProjectWire:
    access = access_project(request.auth, project_id, need=Role.MEMBER)
    if body.commands is not None and (body.commands.start or "").strip():
        raise Invalid("Start scripts for worktrees are not supported. Leave this empty.")
    icon = body.icon.model_dump(exclude_none=True) if body.icon is not None else None
    return project_to_wire(update_project(access, name=body.name, icon=icon))


@router.get("/project/{project_id}/directories", summary="Folders of the project: its worktrees")
def list_directories(request: ApiRequest, project_id: str) -> list[ProjectDirectory]:
    return _directories(access_project(request.auth, project_id))


def _directories(access: ProjectAccess) -> list[ProjectDirectory]:
    rows = checkouts_in(access).filter(state__in=STANDING).order_by("-created_at")
    worktrees: list[ProjectDirectory] = [
        {"directory": folder, "strategy": "git_worktree"}
        for folder in rows.values_list("folder", flat=True)
    ]
    return [{"directory": access.project.directory}, *worktrees]


@router.get("/vcs", summary="The branch of the named folder, and the main one of its project")
def get_vcs(request: ApiRequest) -> dict[str, str]:
    location = find_location(request)
    if location is None:
        return {}
    project = location.project
    known = {
        "branch": _branch_in(project, location.folder),
        "default_branch": default_branch_of(project),
    }
    return {key: name for key, name in known.items() if name}


def _branch_in(project: Project, folder: str) -> str:
    if not folder:
        return branch_of(project)
    rows = project.checkouts.filter(folder=folder)
    return rows.values_list("branch", flat=True).first() or ""
