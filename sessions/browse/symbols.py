"""Ask the language servers of a folder for symbols by name.

The servers are started for the folder, as no session is asked about, and share the bounds of those
of sessions: they run in the sandbox, are so many at most, and end when nobody asks for minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.loop import submit
from opencode_web.lib.shapes import Unchecked
from opencode_web.lib.text import clean_text
from sessions.browse.file_scope import FileScope
from sessions.browse.search import MAX_PATTERN_CHARS, list_names
from sessions.config.effective import project_config
from sessions.config.programs import language_servers
from sessions.git.places import lent_objects
from sessions.language_servers.running import workspace_for
from sessions.models import Checkout, Project
from sessions.sandboxes.build import project_sandbox
from tools.errors import ToolError
from tools.lsp.client import Client
from tools.lsp.connection import ServerGone, ServerRefusal
from tools.lsp.operations import Operation, can, perform
from tools.lsp.spec import ServerSpec
from tools.lsp.uris import to_path
from tools.lsp.workspace import Workspace
from tools.paths import Located
from tools.sandbox.base import Sandbox

MAX_SYMBOLS = 100
# A server that has to start and to read the project may take longer: the next question finds it.
WAIT_S = 10.0
# A file by which a server can be told which project it is for, of several that it may refuse.
_TRIES = 3
_MAX_FILES = 8
# Of SymbolKind: class, method, enum, interface, function, variable, constant, struct.
_KINDS = frozenset({5, 6, 10, 11, 12, 13, 14, 23})


class _Position(BaseModel):
    model_config = ConfigDict(frozen=True)

    line: int = Field(ge=0)
    character: int = Field(ge=0)


class _Range(BaseModel):
    model_config = ConfigDict(frozen=True)

    start: _Position
    end: _Position


class _Place(BaseModel):
    model_config = ConfigDict(frozen=True)

    uri: str
    # Newer servers tell it only when they are asked again.
    range: _Range = _Range(start=_Position(line=0, character=0), end=_Position(line=0, character=0))


class _Symbol(BaseModel):
    """What a server says: its text is that of the repository."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=1_000)
    kind: int
    location: _Place


class Position(TypedDict):
    """A place in a file. Both count from 0."""

    line: int
    character: int


class Range(TypedDict):
    """From one place to another."""

    start: Position
    end: Position


class SymbolPlace(TypedDict):
    """Where a symbol is."""

    uri: str
    range: Annotated[JsonObject, Unchecked(Range)]


class Symbol(TypedDict):
    """A class, function, variable or the like. Source: `SymbolKind` of the LSP."""

    name: str
    kind: int
    location: SymbolPlace


async def find_symbols(scope: FileScope, query: str) -> list[Symbol]:
    """Returns: at most `MAX_SYMBOLS`, of files of the folder that the caller may read; none where
    language servers are off or not installed, or do not answer in `WAIT_S`.

    For a viewer no program is started, so there are none either.
    """
    if len(query) > MAX_PATTERN_CHARS:
        raise Invalid(f"The query can have at most {MAX_PATTERN_CHARS} characters.", kind="Query")
    if scope.cautious or not settings.LANGUAGE_SERVERS:
        return []
    specs = await in_db(_specs, scope)
    if not specs:
        return []
    files = _representatives(scope, specs, await list_names(scope))
    # Servers live in the loop that ends them with this process.
    found = await asyncio.wrap_future(submit(_ask(scope, specs, files, query)))
    shown = (wire for one in dict.fromkeys(found) if (wire := _to_wire(scope, one)))
    return [wire for wire, _ in zip(shown, range(MAX_SYMBOLS), strict=False)]


def _specs(scope: FileScope) -> tuple[ServerSpec, ...]:
    project = Project.objects.select_related("team").get(pk=scope.project_id)
    return language_servers(project_config(project, str(scope.worktree)).lsp)


def _representatives(
    scope: FileScope, specs: Sequence[ServerSpec], names: Sequence[str]
) -> list[Located]:
    """For each server the files that lie highest: what they belong to is most of the project."""
    ordered = sorted(names, key=lambda name: (name.count("/"), name))
    chosen: dict[str, None] = {}
    for spec in specs:
        fitting = (name for name in ordered if spec.is_for(Path(name)))
        chosen.update(dict.fromkeys(name for name, _ in zip(fitting, range(_TRIES), strict=False)))
    files = []
    for name in [*chosen][: _MAX_FILES * _TRIES]:
        with contextlib.suppress(Invalid):
            files.append(scope.locate(str(scope.directory / name)))
    return files


async def _ask(
    scope: FileScope, specs: Sequence[ServerSpec], files: Sequence[Located], query: str
) -> list[_Symbol]:
    workspace = workspace_for(await in_db(_sandbox, scope), specs)
    if workspace is None:
        return []
    asked: set[Client] = set()
    tasks = [asyncio.create_task(_ask_about(workspace, file, query, asked)) for file in files]
    if not tasks:
        return []
    try:
        done, _ = await asyncio.wait(tasks, timeout=WAIT_S)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [symbol for task in tasks if task in done for symbol in task.result()]


def _sandbox(scope: FileScope) -> Sandbox:
    project = Project.objects.select_related("team").get(pk=scope.project_id)
    folder = hashlib.sha256(os.fsencode(scope.worktree)).hexdigest()[:16]
    # It may have a stranger's code.
    of_strangers = Checkout.objects.filter(
        project=project, folder=str(scope.worktree), session__is_read_only=True
    )
    return project_sandbox(
        project,
        worktree=scope.worktree,
        session_dir=settings.DATA_DIR / "code" / project.pk / folder,
        lent=(lent_objects(project.pk),) if scope.is_checkout else (),
        isolated=scope.is_checkout and of_strangers.exists(),
    )


async def _ask_about(
    workspace: Workspace, file: Located, query: str, asked: set[Client]
) -> list[_Symbol]:
    try:
        async with workspace.clients(file) as opened:
            new = [one for one in opened.clients if one not in asked]
            asked.update(new)
            able = [one for one in new if can(one, Operation.WORKSPACE_SYMBOLS)]
            answers = await asyncio.gather(*(_ask_one(one, file, query) for one in able))
    except (ToolError, OSError):
        return []  # none is installed for it, or none works: sessions are told why
    return [symbol for answer in answers for symbol in _read(answer)]


async def _ask_one(client: Client, file: Located, query: str) -> list[JsonValue]:
    operation = Operation.WORKSPACE_SYMBOLS
    try:
        return await perform(client, operation, file.real, line=0, character=0, query=query)
    except (TimeoutError, ServerGone, ServerRefusal):
        return []


def _read(answer: Sequence[JsonValue]) -> Iterator[_Symbol]:
    for one in answer:
        with contextlib.suppress(ValidationError):
            symbol = _Symbol.model_validate(one)
            if symbol.kind in _KINDS:
                yield symbol


def _to_wire(scope: FileScope, symbol: _Symbol) -> Symbol | None:
    path = to_path(symbol.location.uri)
    if path is None:
        return None
    with contextlib.suppress(Invalid):
        located = scope.locate(path)
        if scope.may_read(*located.patterns):
            span: JsonObject = symbol.location.range.model_dump()
            uri = symbol.location.uri
            name = clean_text(symbol.name)
            return {"name": name, "kind": symbol.kind, "location": {"uri": uri, "range": span}}
    return None
