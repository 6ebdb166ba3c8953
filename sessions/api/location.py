"""Which project a request is about. Source: OpenCode's HTTP API.

A client names a folder, of a project or of a session's worktree, or anything inside; where it has
no path it can say `team/project`. Who names nothing means the default project of their token, else
the one they used last.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from opencode_web.lib.errors import NotFound
from sessions.access import (
    ProjectAccess,
    checkouts_in,
    to_project,
    visible_projects,
    visible_sessions,
)
from sessions.api.auth import ApiRequest
from sessions.models import Project, Session, TokenDefault
from teams.auth import Principal
from teams.models import Role

_MAX_NAMED = 20


@dataclass(frozen=True)
class Location:
    """A project, and the folder in it that the client named (its root when it named none)."""

    access: ProjectAccess
    directory: str
    # The worktree of a session, when that is where the client is; else empty.
    folder: str = ""

    @property
    def project(self) -> Project:
        return self.access.project

    @property
    def user_id(self) -> int:
        return self.access.principal.user.pk

    @property
    def path(self) -> str:
        """The folder that the client named, from the root of the project or worktree; "" for it."""
        root = self.folder or self.project.directory
        return self.directory.removeprefix(root).lstrip("/")


def directory_of(request: ApiRequest) -> str | None:
    """The directory the client names: by query, else by header (URI-encoded), else none."""
    query = request.GET.get("directory") or request.GET.get("location[directory]")
    given = query or unquote(request.headers.get("x-opencode-directory", ""))
    return given.replace("\0", "") or None


def below(path: str) -> Q:
    """Returns: what selects the sessions of a folder of a project and of those below it."""
    path = path.strip("/").replace("\0", "")
    if not path:
        return Q()
    inside = f"{path}/"
    # Not `startswith`: SQLite takes capital and small letters for the same there.
    return Q(path=path) | Q(Exact(Left("path", len(inside)), inside))


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


def find_location(
    request: ApiRequest, *, need: Role = Role.VIEWER, named: str = ""
) -> Location | None:
    """Returns: the named project, else the token's default, else the person's latest one; None when
    there is none yet.

    `named` is a directory from the body.
    Raises: NotFound when the named one is not visible; Forbidden below `need`.
    """
    projects = visible_projects(request.auth)
    wanted, directory = request.GET.get("project"), named or directory_of(request)
    if wanted:
        project = projects.filter(pk=wanted).first()
        if project is None:
            raise NotFound("Project", wanted)
    elif directory:
        project = _project_at(request.auth, directory)
        directory = directory if directory.startswith("/") else None
    else:
        project = _latest_project(request.auth)
        if project is None:
            return None
    access = to_project(request.auth, project, need=need)
    inside = directory if directory and not wanted else project.directory
    inside = posixpath.normpath(inside)
    folder = "" if wanted else _checkout_at(access, inside)
    return Location(access, inside, folder)


def require_location(request: ApiRequest, *, need: Role = Role.VIEWER, named: str = "") -> Location:
    """Raises: NotFound, also when there is no project at all; Forbidden below `need`."""
    location = find_location(request, need=need, named=named)
    if location is None:
        raise NotFound("Project", hint="Your teams have no project that is ready; add one first.")
    return location


def _project_at(principal: Principal, directory: str) -> Project:
    if not directory.startswith("/"):
        return _project_named(principal, directory)
    folders = _with_parents(directory)
    within = Q(directory__in=folders) | Q(checkouts__folder__in=folders)
    found = visible_projects(principal).filter(within).distinct()
    project = max(found, key=lambda row: (len(row.directory), row.created_at), default=None)
    if project is None:
        raise _unknown(principal, "Project with the directory", directory)
    return project


def _project_named(principal: Principal, name: str) -> Project:
    team, _, last = name.strip("/").rpartition("/")
    rows = visible_projects(principal).filter(Q(name__iexact=last) | Q(pk=last))
    found = rows.filter(Q(team__slug=team) | Q(team=team)) if team else rows
    project = found.order_by("created_at").first()
    if project is None:
        raise _unknown(principal, "Project", name)
    return project


def _unknown(principal: Principal, what: str, name: str) -> NotFound:
    """Says what the caller can name instead."""
    rows = visible_projects(principal).order_by("name", "pk")[: _MAX_NAMED + 1]
    known = [f"{row.team.slug}/{row.name} ({row.directory})" for row in rows]
    more = " and more" if len(known) > _MAX_NAMED else ""
    there = f"You can name {', '.join(known[:_MAX_NAMED])}{more}." if known else "You have none."
    return NotFound(what, f"{name[:300]}. {there}")


def _checkout_at(access: ProjectAccess, directory: str) -> str:
    if f"{directory}/".startswith(f"{access.project.directory}/"):
        return ""
    rows = checkouts_in(access).filter(folder__in=_with_parents(directory))
    return rows.values_list("folder", flat=True).first() or ""


def _with_parents(directory: str) -> list[str]:
    path = PurePosixPath(posixpath.normpath(directory))
    return [str(path), *(str(parent) for parent in path.parents)]


def _latest_project(principal: Principal) -> Project | None:
    chosen = TokenDefault.objects.filter(project=OuterRef("pk"), token=principal.token_id)
    own = Session.objects.filter(project=OuterRef("pk"), owner=principal.user)
    return (
        visible_projects(principal)
        .filter(status=Project.Status.READY)
        .annotate(
            is_chosen=Exists(chosen),
            used_at=Subquery(own.order_by("-updated_at").values("updated_at")[:1]),
        )
        .order_by("-is_chosen", F("used_at").desc(nulls_last=True), "-created_at")
        .first()
    )
