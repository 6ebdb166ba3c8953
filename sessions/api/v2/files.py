from __future__ import annotations

import base64
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.files import where_of
from sessions.api.location import require_location
from sessions.api.v2.place import Placed, placed
from sessions.browse.ask import browse
from sessions.browse.operations import FIND_FILES, LIST_FOLDER, READ_FILE
from sessions.browse.search import MAX_FOUND

router = Router(tags=["file"], auth=AsyncTokenOrCookie())


class FindQuery(Schema):
    query: str
    type: Literal["file", "directory"] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_FOUND)] = 100


class Entry(TypedDict):
    path: str
    type: Literal["file", "directory"]


@router.get("/api/fs/list", summary="Entries of a folder")
async def list_files(request: ApiRequest, path: str = "") -> Placed[list[Entry]]:
    location = await in_db(require_location, request)
    nodes = await browse(where_of(location), LIST_FOLDER, path=path)
    return placed(location, [_entry(one["path"], one["type"]) for one in nodes])


@router.get("/api/fs/find", summary="Files and folders by a part of their path")
async def find_files(
    request: ApiRequest, asked: Annotated[FindQuery, Query()]
) -> Placed[list[Entry]]:
    location = await in_db(require_location, request)
    where, kind = where_of(location), asked.type or ""
    paths = await browse(where, FIND_FILES, query=asked.query, kind=kind, limit=asked.limit)
    return placed(
        location,
        [_entry(path, "directory" if path.endswith("/") else "file") for path in paths],
    )


@router.get("/api/fs/read/{path:path}", summary="A file as it is")
async def read_file(request: ApiRequest, path: str) -> HttpResponse:
    location = await in_db(require_location, request)
    file = await browse(where_of(location), READ_FILE, path=path)
    content = file["content"]
    data = base64.b64decode(content) if "encoding" in file else content.encode()
    # Never as a page of this server, whatever is in it.
    return HttpResponse(
        data,
        content_type="application/octet-stream",
        headers={"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"},
    )


def _entry(path: str, kind: Literal["file", "directory"]) -> Entry:
    return {"path": path.rstrip("/"), "type": kind}
