"""The files of a session's folder, for people: read only."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import ParamSpec, TypeVar

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import AppError, NotFound, TooLarge
from opencode_web.lib.loop import submit
from sessions.actions.exports import note_download
from sessions.browse.ask import WAIT_S, browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import FIND_FILES, LIST_TREE, VIEW_FILE, Operation
from sessions.browse.review import Picture
from sessions.browse.view import FileLook
from sessions.models import Session
from sessions.present.changes.file_diff import IMAGE_TYPES
from sessions.present.pages.files import (
    MAX_DOWNLOAD_BYTES,
    MAX_TEXT_BYTES,
    Addresses,
    Files,
    FileView,
    Node,
    build_file,
    build_found,
    build_tree,
    folders_to,
)
from sessions.present.place import Place
from sessions.views.requests import session_of
from teams.http import TeamRequest, team_view
from teams.models import Role

P = ParamSpec("P")
R = TypeVar("R")
_MAX_PATH_CHARS = 4_000
_MAX_FOUND = 100
# The browser has asked for one file, and nothing in it is a page of ours.
_INERT = "default-src 'none'; frame-ancestors 'none'; sandbox"


def load_files(request: TeamRequest, session: Session) -> Files:
    """The whole pane, as the address says. What cannot be read is a sentence in its place."""
    addresses, file = Addresses.of(Place.of(session)), _path(request, "file")
    wanted = _filter(request)
    pane = Files(addresses.page, addresses.part, filter=wanted)
    try:
        if wanted:
            pane = replace(pane, found=_find(request, session, wanted))
        else:
            folders = folders_to(file or _folder(request))
            pane = replace(pane, nodes=_tree(request, session, folders, current=file))
    except AppError as exc:
        return replace(pane, error=exc.message)
    try:
        return replace(pane, view=_view(request, session, file) if file else None)
    except AppError as exc:
        return replace(pane, view_error=exc.message)


@require_GET
@team_view()
@never_cache
def files(request: TeamRequest, session: str) -> HttpResponse:
    """A part of the pane: a file, what a filter finds, or the rows of one folder."""
    row = session_of(request, session).session
    if not request.htmx:
        keys = [key for key in ("file", "folder", "filter") if request.GET.get(key)]
        named = {key: request.GET[key] for key in keys}
        return redirect(f"{Place.of(row).url('session')}?{urlencode({'panel': 'files', **named})}")
    if file := _path(request, "file"):
        view = _view(request, row, file)
        return render(request, "sessions/_file_view.html", {"view": view})
    wanted, folder = _filter(request), _folder(request)
    nodes = _find(request, row, wanted) if wanted else _tree(request, row, [folder])
    context = {"nodes": nodes, "id": "found" if wanted else "rows", "filter": wanted}
    return render(request, "sessions/_file_tree.html", context)


@require_GET
@team_view()
@never_cache
def raw(request: TeamRequest, session: str) -> HttpResponse:
    """A raster image, for the page that shows it. Raises: NotFound for anything else."""
    row = session_of(request, session).session
    path = _path(request, "file")
    wire = _look_at(request, row, path, most_bytes=MAX_DOWNLOAD_BYTES)
    if wire["sniffed"] is not True or wire["mime"] not in IMAGE_TYPES or "content" not in wire:
        raise NotFound("Image", path)
    return bytes_of(wire, content_type=wire["mime"])


@require_GET
@team_view()
@never_cache
def download(request: TeamRequest, session: str) -> HttpResponse:
    """Any file, to be kept by the browser and not shown. Raises: NotFound; Forbidden; TooLarge."""
    access = session_of(request, session)
    path = _path(request, "file")
    wire = _look_at(request, access.session, path, most_bytes=MAX_DOWNLOAD_BYTES)
    if "content" not in wire and "text" not in wire:
        limit = MAX_DOWNLOAD_BYTES // 1024 // 1024
        raise TooLarge(
            _("%(path)s is too large to download: more than %(limit)s MiB.")
            % {"path": path, "limit": limit}
        )
    note_download(access, file=path)
    response = bytes_of(wire, content_type="application/octet-stream")
    name = path.rpartition("/")[2]
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response


def bytes_of(wire: FileLook | Picture, *, content_type: str) -> HttpResponse:
    """A file of a repository: whoever opens it by itself, nothing in it is run."""
    data = wire["text"].encode() if "text" in wire else base64.b64decode(wire["content"])
    headers = {"Content-Security-Policy": _INERT, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(data, content_type=content_type, headers=headers)


def _view(request: TeamRequest, session: Session, path: str) -> FileView:
    wire = _look_at(request, session, path, most_bytes=MAX_TEXT_BYTES)
    return build_file(path, wire, Addresses.of(Place.of(session)))


def _look_at(request: TeamRequest, session: Session, path: str, *, most_bytes: int) -> FileLook:
    if not path:
        raise NotFound("File")
    return ask_files(request, session, VIEW_FILE, path=path, most_bytes=most_bytes)


def _tree(
    request: TeamRequest, session: Session, folders: list[str], *, current: str = ""
) -> list[Node]:
    tree = ask_files(request, session, LIST_TREE, folders=folders)
    addresses = Addresses.of(Place.of(session))
    return build_tree(tree, addresses, at=folders[0], current=current)


def _find(request: TeamRequest, session: Session, wanted: str) -> list[Node]:
    paths = ask_files(request, session, FIND_FILES, query=wanted, kind="file", limit=_MAX_FOUND)
    return build_found(paths, Addresses.of(Place.of(session)))


def ask_files(
    request: TeamRequest,
    session: Session,
    operation: Operation[P, R],
    *args: P.args,
    **given: P.kwargs,
) -> R:
    """Have an operation of `browse` done for who asks. Raises: what it raises."""
    where = Where.of_session(session, cautious=not request.access.can(Role.MEMBER))
    return submit(browse(where, operation, *args, **given)).result(WAIT_S * 2)


def _path(request: TeamRequest, name: str) -> str:
    path = request.GET.get(name, "")
    if len(path) > _MAX_PATH_CHARS or "\0" in path:
        raise NotFound("File", path[:100])
    return path


def _folder(request: TeamRequest) -> str:
    path = _path(request, "folder")
    return path if not path or path.endswith("/") else f"{path}/"


def _filter(request: TeamRequest) -> str:
    return request.GET.get("filter", "").strip()[:200]
