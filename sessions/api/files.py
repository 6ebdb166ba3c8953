"""Files of the named project or worktree: list, read, find, and what git says of them."""

from __future__ import annotations

from typing import Annotated, Literal, ParamSpec, TypeVar

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from opencode_web.lib.db import in_db
from sessions.actions.patches import note_patch
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import Location, require_location
from sessions.browse.apply import MAX_PATCH_BYTES, VcsApplied
from sessions.browse.ask import browse
from sessions.browse.changes import FileWire, VcsFileDiff, VcsFileStatus
from sessions.browse.content import FileContent
from sessions.browse.file_scope import Where
from sessions.browse.listing import FileNode
from sessions.browse.operations import (
    APPLY_PATCH,
    FIND_FILES,
    FIND_SYMBOLS,
    FIND_TEXT,
    LIST_DIFFS,
    LIST_FILES_CHANGED,
    LIST_FOLDER,
    LIST_STATUS,
    RAW_DIFF,
    READ_FILE,
    Operation,
)
from sessions.browse.search import MAX_FOUND, FoundLine
from sessions.browse.symbols import Symbol
from teams.models import Role

P = ParamSpec("P")
R = TypeVar("R")
router = Router(tags=["file"], auth=AsyncTokenOrCookie())


class FileSearch(Schema):
    query: str
    dirs: Literal["true", "false"] = "true"
    type: Literal["file", "directory"] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_FOUND)] = 100


class DiffQuery(Schema):
    mode: Literal["git", "branch"]
    context: Annotated[int, Field(ge=0)] = 3


class PatchBody(Schema):
    """A unified diff."""

    patch: str = Field(max_length=MAX_PATCH_BYTES)


def where_of(location: Location) -> Where:
    """Where the files of a request are, with what its caller may read of them."""
    project = location.project
    return Where(
        project_id=project.pk,
        host=project.host,
        directory=location.directory,
        folder=location.folder,
        cautious=not location.access.team.can(Role.MEMBER),
    )


async def _ask(
    request: ApiRequest, operation: Operation[P, R], *args: P.args, **arguments: P.kwargs
) -> R:
    location = await in_db(require_location, request)
    return await browse(where_of(location), operation, *args, **arguments)


@router.get("/file", summary="Entries of a folder")
async def list_files(request: ApiRequest, path: str) -> list[FileNode]:
    return await _ask(request, LIST_FOLDER, path=path)


@router.get("/file/content", summary="A file, as text or as base64, and its change since HEAD")
async def read_file(request: ApiRequest, path: str) -> FileContent:
    return await _ask(request, READ_FILE, path=path)


@router.get("/file/status", summary="Files that are changed or new")
async def file_status(request: ApiRequest) -> list[FileWire]:
    return await _ask(request, LIST_FILES_CHANGED)


@router.get("/find", summary="Lines that match a regular expression")
async def find_text(request: ApiRequest, pattern: str) -> list[FoundLine]:
    return await _ask(request, FIND_TEXT, pattern=pattern)


@router.get("/find/file", summary="Files and folders by a part of their path")
async def find_files(request: ApiRequest, search: Annotated[FileSearch, Query()]) -> list[str]:
    kind = search.type or ("file" if search.dirs == "false" else "")
    return await _ask(request, FIND_FILES, query=search.query, kind=kind, limit=search.limit)


@router.get("/find/symbol", summary="Symbols by name")
async def find_symbols(request: ApiRequest, query: str) -> list[Symbol]:
    """At most 100 classes, functions, variables and the like, which the language servers of the
    folder find in ten seconds. None where `lsp` is off or no server is installed, and none for
    viewers, for whom no program is started."""
    return await _ask(request, FIND_SYMBOLS, query=query)


@router.get("/vcs/status", summary="Files that are changed since the last commit")
async def vcs_status(request: ApiRequest) -> list[VcsFileStatus]:
    return await _ask(request, LIST_STATUS)


@router.get("/vcs/diff", summary="Changes since the last commit, or since the branch began")
async def vcs_diff(request: ApiRequest, asked: Annotated[DiffQuery, Query()]) -> list[VcsFileDiff]:
    return await _ask(request, LIST_DIFFS, mode=asked.mode, context=asked.context)


@router.get("/vcs/diff/raw", summary="Changes since the last commit, as one patch")
async def vcs_raw_diff(request: ApiRequest) -> HttpResponse:
    text = await _ask(request, RAW_DIFF)
    return HttpResponse(text, content_type="text/x-diff; charset=utf-8")


@router.post("/vcs/apply", summary="Apply a patch: all of it, or nothing")
async def vcs_apply(request: ApiRequest, body: PatchBody) -> VcsApplied:
    location = await in_db(require_location, request, need=Role.MEMBER)
    applied = await browse(where_of(location), APPLY_PATCH, patch=body.patch)
    size = len(body.patch.encode())
    folder = location.folder or location.project.directory
    await in_db(note_patch, location.access, folder=folder, size_bytes=size)
    return applied
