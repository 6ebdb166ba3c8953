"""The programs that look at the code of a project. Source: OpenCode's HTTP API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from ninja import Router
from typing_extensions import TypedDict

from opencode_web.lib.shapes import Unchecked
from sessions.access import visible_sessions
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location
from sessions.config.effective import project_config
from sessions.config.programs import formatters_of
from sessions.language_servers.rows import present_servers

router = Router(tags=["code"])


class LanguageServer(TypedDict):
    id: str
    name: str
    root: str
    status: Annotated[str, Unchecked(Literal["connected", "error"])]


class Formatter(TypedDict):
    name: str
    extensions: list[str]
    enabled: bool


@router.get("/lsp", summary="Language servers that run where the client is")
def list_language_servers(request: ApiRequest) -> list[LanguageServer]:
    location = find_location(request)
    if location is None:
        return []
    sessions = visible_sessions(request.auth).filter(
        project=location.project, folder=location.folder
    )
    found = {(row.name, row.root): row for row in present_servers(sessions).order_by("seen_at")}
    return [
        {"id": name, "name": name, "root": root, "status": row.status}
        for (name, root), row in sorted(found.items())
    ]


@router.get("/formatter", summary="Formatters, and whether they can be called where the client is")
def list_formatters(request: ApiRequest) -> list[Formatter]:
    location = find_location(request)
    if location is None:
        return []
    folder = Path(location.folder or location.project.directory)
    return [
        {
            "name": one.name,
            "extensions": [*sorted(one.extensions)],
            "enabled": one.argv([folder], folder) is not None,
        }
        for one in formatters_of(project_config(location.project, location.folder).formatter)
    ]
