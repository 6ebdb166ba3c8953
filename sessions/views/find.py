from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import AppError
from sessions.browse.operations import FIND_FILES
from sessions.models import Project, Session
from sessions.present.frame.rail import load_rail
from sessions.present.pages.find import (
    Found,
    Section,
    file_section,
    load_found,
    load_found_here,
    split_prefix,
)
from sessions.present.place import Place
from sessions.present.sessions import shown_title
from sessions.text_search import MAX_QUERY_CHARS
from sessions.views.files import ask_files
from sessions.views.requests import acting_of, project_of, rail_filter, session_of
from sessions.visibility import sessions_in
from teams.http import TeamRequest, show, team_view

_MAX_FILES = 30
_MAX_FILES_BESIDE = 6


@require_GET
@never_cache
@team_view(need=None)
def find(request: TeamRequest) -> HttpResponse:
    """Sessions, files and pages by what somebody typed: a page, and for the palette its list.

    Who sees nothing of the team's work finds pages only.

    `session` or `project` says whose files; `acts` which keys act on the page that is open. With
    `files=1` only files: they are looked for on their host, which may take longer than the rest.
    """
    query = request.GET.get("q", "")[:MAX_QUERY_CHARS]
    if request.GET.get("files"):
        section = _files(request, query, most=_MAX_FILES_BESIDE) if query.strip() else None
        found = Found(query, [section] if section and section.entries else [])
    else:
        found = _found(request, query)
    if request.htmx:
        return render(request, "sessions/_found_options.html", {"found": found})
    context: dict[str, object] = {"found": found, "near": _near(request)}
    if request.access.sees_work:
        context["layout"] = "base_app.html"
        context["rail"] = load_rail(request.access, rail_filter(request))
    else:
        context["layout"] = "base_settings.html"
    return render(request, "sessions/find.html", context)


def _found(request: TeamRequest, query: str) -> Found:
    only, text = split_prefix(query)
    files, note = None, ""
    if only == "files":
        try:
            files = _files(request, text, most=_MAX_FILES)
        except AppError as exc:
            note = exc.message
        else:
            note = "" if files else _("Open a session or project to search its files.")
    return load_found(
        request.access,
        query,
        acting=acting_of(request),
        project=_near_project(request),
        files=files,
        note=note,
        current=request.GET.get("session", ""),
    )


def _near_project(request: TeamRequest) -> Project | None:
    if not request.access.sees_work:
        return None
    if shown := request.GET.get("session"):
        return session_of(request, shown).session.project
    wanted = request.GET.get("project")
    return project_of(request, wanted).project if wanted else None


def _files(request: TeamRequest, text: str, *, most: int) -> Section | None:
    """Returns: None where the page is about no session and no project that has one.

    Raises: what `browse` raises.
    """
    shown = request.GET.get("session", "")
    session = session_of(request, shown).session if shown else _latest(request)
    if session is None:
        return None
    paths = ask_files(request, session, FIND_FILES, query=text, kind="file", limit=most)
    return file_section(session, paths, is_open=bool(shown))


def _latest(request: TeamRequest) -> Session | None:
    """The session of a project, in the project's own folder, that shows what is in there."""
    if not (wanted := request.GET.get("project", "")):
        return None
    project = project_of(request, wanted).project
    rows = sessions_in(request.access).filter(project=project, parent=None)
    rows = rows.filter(folder="", archived_at=None)
    return rows.select_related("project__team").order_by("-updated_at", "pk").first()


def _near(request: TeamRequest) -> dict[str, str]:
    """What the next search is near to, for the form of the page."""
    return {key: request.GET[key] for key in ("session", "project") if request.GET.get(key)}


@require_GET
@never_cache
@team_view()
def find_here(request: TeamRequest, session: str) -> HttpResponse:
    """What was said in one session, by words: a page, and for its own search the list."""
    row = session_of(request, session).session
    place = Place.of(row)
    context: dict[str, object] = {
        "found": load_found_here(row, request.GET.get("q", "")),
        "url": place.url("find_here"),
    }
    if not request.htmx:
        context["title"], context["back_url"] = shown_title(row), place.url("session")
        context["rail"] = load_rail(request.access, rail_filter(request), current=row.pk)
        context["current"] = row.pk
    return show(request, "sessions/found_here.html", "sessions/_found_here.html", context)
