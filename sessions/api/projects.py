from __future__ import annotations

from ninja import Router

from opencode_web.lib.json import JsonObject
from sessions.access import visible_projects
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, require_location
from sessions.branch import branch_of
from sessions.wire import project_to_wire

router = Router(tags=["project"])

# The home of commands in the sandbox; the server's own is nobody's business.
HOME = "/agent"


@router.get("/path", summary="Where the project is")
def get_path(request: ApiRequest) -> JsonObject:
    location = require_location(request)
    return {
        "home": HOME,
        "state": "",
        "config": "",
        "worktree": location.project.directory,
        "directory": location.directory,
    }


@router.get("/project", summary="Every project you can see")
def list_projects(request: ApiRequest) -> list[JsonObject]:
    return [project_to_wire(row) for row in visible_projects(request.auth).order_by("name", "pk")]


@router.get("/project/current", summary="The named project, else the one you used last")
def current_project(request: ApiRequest) -> JsonObject:
    return project_to_wire(require_location(request).project)


@router.get("/vcs", summary="The branch the worktree is on")
def get_vcs(request: ApiRequest) -> JsonObject:
    location = find_location(request)
    branch = branch_of(location.project) if location else ""
    return {"branch": branch} if branch else {}
