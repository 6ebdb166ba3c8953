"""A text file of a session's folder in an editor, and what is saved of it."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import AppError, Invalid
from sessions.access import SessionAccess
from sessions.actions.patches import note_edit
from sessions.browse.operations import OPEN_FILE, SAVE_FILE
from sessions.present.pages.files import Addresses, FileEdit, build_edit
from sessions.present.place import Place
from sessions.views.files import ask_files
from sessions.views.requests import session_of
from sessions.views.review_source import path_of
from teams.http import TeamRequest, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@team_view()
@never_cache
def edit(request: TeamRequest, session: str) -> HttpResponse:
    """Open a file, or save it where it still is as it was opened; else both versions are shown."""
    access = session_of(request, session, need=Role.MEMBER)
    path = path_of(request.GET, "file")
    if not path:
        raise Invalid("Name a file.")
    if request.method == "POST":
        return _save(request, access, path)
    opened = ask_files(request, access.session, OPEN_FILE, path=path)
    addresses = Addresses.of(Place.of(access.session))
    return _answer(request, build_edit(path, addresses, **opened))


def _save(request: TeamRequest, access: SessionAccess, path: str) -> HttpResponse:
    text, digest = request.POST.get("text", ""), request.POST.get("digest", "")
    addresses = Addresses.of(Place.of(access.session))
    edited = build_edit(path, addresses, text=text, digest=digest)
    try:
        saved = ask_files(request, access.session, SAVE_FILE, path=path, text=text, digest=digest)
    except AppError as exc:
        # What was typed must not be lost with it.
        return _answer(request, replace(edited, error=exc.message), status=exc.status)
    if (newer := saved["newer"]) is not None:
        newest = newer["digest"]
        conflict = replace(edited, digest=newest, newer=newer["text"], is_gone=not newest)
        return _answer(request, conflict, status=409)
    note_edit(access, path=saved["path"], is_new=saved["is_new"])
    if request.htmx:
        return _answer(request, replace(edited, digest=saved["digest"]))
    return redirect(edited.close_url)


def _answer(request: TeamRequest, edited: FileEdit, *, status: int = 200) -> HttpResponse:
    template = "sessions/_file_edit.html" if request.htmx else "sessions/file_edit.html"
    return render(request, template, {"edit": edited}, status=status)
