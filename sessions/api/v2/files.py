from __future__ import annotations

import base64
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue, text_of
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.files import where_of
from sessions.api.location import require_location
from sessions.api.v2.place import placed
from sessions.browse.ask import browse
from sessions.browse.search import MAX_FOUND

router = Router(tags=["file"], auth=AsyncTokenOrCookie())


class FindQuery(Schema):
    query: str
    type: Literal["file", "directory"] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_FOUND)] = 100


@router.get("/api/fs/list", summary="Entries of a folder")
async def list_files(request: ApiRequest, path: str = "") -> JsonObject:
    return await _entries(request, "file.list", path=path)


@router.get("/api/fs/find", summary="Files and folders by a part of their path")
async def find_files(request: ApiRequest, asked: Annotated[FindQuery, Query()]) -> JsonObject:
    return await _entries(
        request, "find.files", query=asked.query, kind=asked.type or "", limit=asked.limit
    )


@router.get("/api/fs/read/{path:path}", summary="A file as it is")
async def read_file(request: ApiRequest, path: str) -> HttpResponse:
    location = await in_db(require_location, request)
    wire = await browse(where_of(location), "file.read", path=path)
    assert isinstance(wire, dict)
    content = text_of(wire, "content")
    data = base64.b64decode(content) if wire.get("encoding") == "base64" else content.encode()
    # Never as a page of this server, whatever is in it.
    return HttpResponse(
        data,
        content_type="application/octet-stream",
        headers={"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"},
    )


async def _entries(request: ApiRequest, operation: str, **arguments: JsonValue) -> JsonObject:
    location = await in_db(require_location, request)
    found = await browse(where_of(location), operation, **arguments)
    assert isinstance(found, list)
    return placed(location, [_entry(one) for one in found])


def _entry(found: JsonValue) -> JsonObject:
    if isinstance(found, dict):
        return {"path": text_of(found, "path").rstrip("/"), "type": found["type"]}
    path = str(found)
    return {"path": path.rstrip("/"), "type": "directory" if path.endswith("/") else "file"}
