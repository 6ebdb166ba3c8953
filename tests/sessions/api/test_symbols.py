from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from django.http import HttpResponse
from pytest_django import Settings

from opencode_web.lib.db import in_db
from opencode_web.lib.loop import submit
from sessions.browse import symbols
from sessions.language_servers.running import end_all_servers
from sessions.models import Project
from teams.models import User
from tests.sessions.api.conftest import ConnectAsync
from tests.tools import lsp

pytestmark = pytest.mark.django_db(transaction=True)
SERVER = {"command": ["python3", "server.py"], "extensions": [".txt"], "env": {"A": "1"}}


def symbol(path: Path | str, name: str = "Shop", kind: int = 5, line: int = 3) -> dict[str, Any]:
    span = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 4}}
    return {
        "name": name,
        "kind": kind,
        "location": {"uri": f"file://{path}", "range": span},
        "containerName": "x",
    }


@pytest_asyncio.fixture(autouse=True)
async def files(project: Project, settings: Settings, tmp_path: Path) -> AsyncIterator[Path]:
    settings.DATA_DIR = tmp_path / "data"
    folder = Path(project.directory)
    server = Path(lsp.__file__).parent / "server.py"
    (folder / "server.py").write_text(server.read_text())
    (folder / "script.json").write_text("{}")
    (folder / "a.txt").write_text("def one\n")
    await set_config(project, {"lsp": {"scripted": SERVER}})
    yield folder
    await asyncio.wrap_future(submit(end_all_servers()))


async def set_config(project: Project, config: dict[str, Any]) -> None:
    project.config = config
    await in_db(project.save)


def play(folder: Path, **said: Any) -> None:
    (folder / "script.json").write_text(json.dumps(said))


Ask = Any


@pytest.fixture
def ask(connect_async: ConnectAsync, alice: User, files: Path) -> Ask:
    async def ask(query: str = "Shop", user: User = alice) -> HttpResponse:
        client = await in_db(connect_async, user)
        return await client.get(f"/find/symbol?directory={files}&query={query}")

    return ask


async def test_symbols_are_those_of_the_language_servers_in_files_that_one_may_read(
    ask: Ask, files: Path, project: Project
) -> None:
    await set_config(
        project, {"lsp": {"scripted": SERVER}, "permission": {"read": {"secret/*": "deny"}}}
    )
    play(
        files,
        symbols=[
            symbol(files / "a.txt"),
            symbol(files / "a.txt"),
            symbol(files / "secret" / "b.txt"),
            symbol("/usr/lib/python3/typing.py"),
            symbol(files / ".." / "elsewhere.txt"),
            symbol(files / "a.txt", kind=15),
            symbol(files / "a.txt", name=""),
            {"name": "nowhere", "kind": 5},
            "nonsense",
            {"name": "whole", "kind": 12, "location": {"uri": f"file://{files}/a.txt"}},
        ],
    )
    start = {"line": 0, "character": 0}
    uri = f"file://{files}/a.txt"
    span = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 4}}
    assert (await ask()).json() == [
        {"name": "Shop", "kind": 5, "location": {"uri": uri, "range": span}},
        {
            "name": "whole",
            "kind": 12,
            "location": {"uri": uri, "range": {"start": start, "end": start}},
        },
    ]


async def test_there_are_only_so_many(
    ask: Ask, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "MAX_SYMBOLS", 3)
    play(files, symbols=[symbol(files / "a.txt", line=line) for line in range(9)])
    lines = [one["location"]["range"]["start"]["line"] for one in (await ask()).json()]
    assert lines == [0, 1, 2]
    assert (await ask("x" * 2_000)).status_code == 400


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"lsp": False},
        {"lsp": {"mine": {"command": ["not-installed-anywhere"], "extensions": [".txt"]}}},
        {"lsp": {"mine": {"command": ["python3", "server.py"], "extensions": [".none"]}}},
    ],
)
async def test_there_are_none_without_a_server(
    ask: Ask, files: Path, project: Project, config: dict[str, Any]
) -> None:
    play(files, symbols=[symbol(files / "a.txt")])
    await set_config(project, config)
    answer = await ask()
    assert (answer.status_code, answer.json()) == (200, [])


async def test_a_server_that_fails_is_no_error(ask: Ask, files: Path) -> None:
    play(files, mode="dies")
    assert (await ask()).json() == []


async def test_a_slow_server_is_not_waited_for(
    ask: Ask, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbols, "WAIT_S", 0.0)
    play(files, symbols=[symbol(files / "a.txt")])
    assert (await ask()).json() == []


async def test_no_program_is_started_for_a_viewer(
    ask: Ask, files: Path, vera: User, settings: Settings
) -> None:
    play(files, symbols=[symbol(files / "a.txt")])
    assert (await ask(user=vera)).json() == []
    assert not (settings.DATA_DIR / "code").exists()
    assert len((await ask()).json()) == 1
