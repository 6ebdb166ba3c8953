"""Which project a request is about. Source: OpenCode's HTTP API."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from django.db.models import F, OuterRef, QuerySet, Subquery

from opencode_web.lib.errors import NotFound
from sessions.access import (
    ProjectAccess,
    access_principal_team,
    visible_projects,
    visible_sessions,
)
from sessions.api.auth import ApiRequest
from sessions.models import Project, Session
from teams.auth import Principal
from teams.models import Role


@dataclass(frozen=True)
class Location:
    """A project, and the folder in it that the client named (its root when it named none)."""

    access: ProjectAccess
    directory: str

    @property
    def project(self) -> Project:
        return self.access.project


def directory_of(request: ApiRequest) -> str | None:
    """The directory the client names: by query, else by header (URI-encoded), else none."""
    given = request.GET.get("directory") or unquote(request.headers.get("x-opencode-directory", ""))
    return given.replace("\0", "") or None


def names_place(request: ApiRequest) -> bool:
    """Whether the request names a project or a directory at all."""
    return bool(request.GET.get("project") or directory_of(request))


def sessions_in_scope(request: ApiRequest) -> QuerySet[Session]:
    """Returns: the visible sessions, where a place is named those of its project."""
    sessions = visible_sessions(request.auth)
    if not names_place(request):
        return sessions
    location = find_location(request)
    return sessions.filter(project=location.project if location else None)


def find_location(request: ApiRequest, *, need: Role = Role.VIEWER) -> Location | None:
    """Returns: the named project, else the person's latest one; None when there is none yet.

    Raises: NotFound when the named one is not visible; Forbidden below `need`.
    """
    projects = visible_projects(request.auth)
    wanted, directory = request.GET.get("project"), directory_of(request)
    if wanted:
        project = projects.filter(pk=wanted).first()
        if project is None:
            raise NotFound("Project", wanted)
    elif directory:
        project = _project_at(request.auth, directory)
    else:
        project = _latest_project(request.auth)
        if project is None:
            return None
    team = access_principal_team(request.auth, project.team_id, need=need)
    inside = directory if directory and not wanted else project.directory
    return Location(ProjectAccess(project, team, request.auth), posixpath.normpath(inside))


def require_location(request: ApiRequest, *, need: Role = Role.VIEWER) -> Location:
    """Raises: NotFound, also when there is no project at all; Forbidden below `need`."""
    location = find_location(request, need=need)
    if location is None:
        raise NotFound("Project", hint="Your teams have no project that is ready; add one first.")
    return location


def _project_at(principal: Principal, directory: str) -> Project:
    path = PurePosixPath(posixpath.normpath(directory))
    folders = [str(path), *(str(parent) for parent in path.parents)]
    found = visible_projects(principal).filter(directory__in=folders)
    project = max(found, key=lambda row: (len(row.directory), row.created_at), default=None)
    if project is None:
        raise NotFound("Project with the directory", directory)
    return project


def _latest_project(principal: Principal) -> Project | None:
    own = Session.objects.filter(project=OuterRef("pk"), owner=principal.user)
    return (
        visible_projects(principal)
        .filter(status=Project.Status.READY)
        .annotate(used_at=Subquery(own.order_by("-updated_at").values("updated_at")[:1]))
        .order_by(F("used_at").desc(nulls_last=True), "-created_at")
        .first()
    )
