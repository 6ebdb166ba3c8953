from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from opencode_web.lib.db import in_db
from sessions.actions.sessions import delete_session
from sessions.language_servers.running import end_all_servers, end_servers
from sessions.models import LanguageServer, Part, Project, Session
from teams.models import User
from tests.sessions.api.conftest import ConnectAsync, connect_async
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of, stop, until
from tests.tools import lsp
from tests.tools.sandbox.test_bubblewrap import marked_processes, until_marked

__all__ = ["connect_async"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
SERVER = {"command": ["python3", "server.py"], "extensions": [".txt"], "env": {"A": "1"}}


@pytest_asyncio.fixture(autouse=True)
async def files(project: Project) -> AsyncIterator[Path]:
    folder = Path(project.directory)
    server = Path(lsp.__file__).parent / "server.py"
    (folder / "server.py").write_text(server.read_text())
    (folder / "script.json").write_text("{}")
    (folder / "a.txt").write_text("def one\n")
    project.config = {**project.config, "lsp": {"scripted": SERVER}}
    await in_db(project.save)
    yield folder
    await end_all_servers()


HOVER = {"operation": "hover", "filePath": "a.txt", "line": 1, "character": 5}


def called() -> str:
    return script([{"tool": "lsp", "input": HOVER}])


async def states(session: Session) -> list[dict[str, Any]]:
    return [part["state"] for part in await in_db(parts_of, session, "tool")]


async def rows() -> list[tuple[str, str, str, str]]:
    fields = ("name", "root", "status", "reason")
    return await in_db(lambda: list(LanguageServer.objects.values_list(*fields)))


async def test_feat2_fr_07_the_lsp_tool_asks_a_server_of_the_session(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    await in_db(prompt, alice, session, called())
    session = await drain(session)
    [state] = await states(session)
    assert state["status"] == "completed"
    assert json.loads(state["output"]) == [{"contents": {"kind": "markdown", "value": "about one"}}]
    assert state["title"] == "hover a.txt:1:5"
    assert await rows() == [("scripted", "", "connected", "")]
    response = await (await in_db(connect_async, alice)).get("/lsp")
    assert response.json() == [
        {"id": "scripted", "name": "scripted", "root": "", "status": "connected"}
    ]
    await end_servers(session.pk)
    assert await rows() == []


async def test_a_server_that_fails_is_shown_with_why(
    session: Session, alice: User, files: Path
) -> None:
    (files / "script.json").write_text('{"mode": "dies"}')
    await in_db(prompt, alice, session, called())
    session = await drain(session)
    assert (await states(session))[0]["status"] == "error"
    await until(lambda: LanguageServer.objects.filter(status="error").exists())
    assert await rows() == [("scripted", "", "error", "cannot find the compiler")]


@pytest.mark.parametrize(
    "config", [{}, {"lsp": False}, {"lsp": True, "experimental": {"lsp_tool": False}}]
)
async def test_it_is_offered_only_where_it_is_switched_on(
    session: Session, alice: User, project: Project, config: dict[str, Any]
) -> None:
    project.config = {
        **{key: value for key, value in project.config.items() if key != "lsp"},
        **config,
    }
    await in_db(project.save)
    await in_db(prompt, alice, session, called())
    session = await drain(session)
    [part] = await in_db(parts_of, session, "tool")
    assert part["tool"] == "invalid"
    assert await rows() == []


async def test_a_stop_ends_the_servers_of_the_session(
    session: Session, alice: User, files: Path
) -> None:
    (files / "script.json").write_text('{"mode": "spawns", "sleep": "86418"}')
    await in_db(prompt, alice, session, script([{"tool": "lsp", "input": HOVER}]))
    await drain(session)
    await until_marked("86418")
    # A turn that ended well leaves them for the next one.
    await in_db(prompt, alice, session, script([{"text": "working"}, {"delay_ms": 60_000}]))
    running = asyncio.create_task(drain(session))
    await until(lambda: Part.objects.filter(session=session, data__text="working").exists())
    await stop(alice, session)
    await running
    await until(lambda: not marked_processes("86418"))
    assert await rows() == []


async def test_a_deleted_session_has_no_servers(session: Session, alice: User) -> None:
    await in_db(prompt, alice, session, called())
    await drain(session)
    access = await in_db(session_access, alice, session)
    await in_db(delete_session, access)
    await end_all_servers()  # tells of their end
    assert await rows() == []


async def test_a_change_is_formatted_and_its_errors_are_told(
    session: Session, project: Project, alice: User, files: Path
) -> None:
    (files / "upper.py").write_text(
        "import pathlib, sys\np = pathlib.Path(sys.argv[1])\np.write_text(p.read_text().upper())\n"
    )
    upper = {"command": ["python3", "upper.py", "$FILE"], "extensions": [".txt"]}
    project.config = {
        **project.config,
        "formatter": {"upper": upper},
        "permission": {"edit": "allow"},
    }
    await in_db(project.save)
    change = {"filePath": "b.txt", "content": "fine\nerror wrong\n"}
    await in_db(prompt, alice, session, script([{"tool": "write", "input": change}]))
    session = await drain(session)
    [state] = await states(session)
    path = files / "b.txt"
    assert path.read_text() == "FINE\nERROR WRONG\n"
    assert state["output"] == (
        "Wrote file successfully.\n\nLSP errors detected in this file, please fix:\n"
        f'<diagnostics file="{path}">\nERROR [2:1] WRONG\n</diagnostics>'
    )
    [found] = state["metadata"]["diagnostics"][str(path)]
    assert found["message"] == "WRONG"
