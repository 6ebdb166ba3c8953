from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tools.lsp.conftest import LONG, SPEC, Project
from tests.tools.sandbox.test_bubblewrap import marked_processes
from tools.base import ToolError
from tools.lsp.pool import Pool


async def _hover(project: Project) -> Any:
    result = await project.context.call(
        "lsp", operation="hover", filePath="a.txt", line=1, character=5
    )
    return json.loads(result.output)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("dies", "cannot find the compiler"),
        ("refuses", "no licence"),
        ("junk", "something else than messages"),
        ("no_json", "no JSON"),
        ("huge", "more than 8388608 bytes"),
        ("bomb", "no JSON"),
        ("flood", "more messages than anybody could read"),
        ("columns", "counts columns"),
    ],
)
async def test_a_server_that_breaks_the_protocol_is_ended_and_not_tried_again(
    project: Project, mode: str, reason: str
) -> None:
    project.play(mode=mode)
    with pytest.raises(ToolError, match=r"does not work|could not answer"):
        await _hover(project)
    async with asyncio.timeout(60):
        while not project.states or project.states[-1].status != "error":
            await asyncio.sleep(0.01)
    assert reason in project.states[-1].reason
    assert len(project.pool) == 0
    project.play()
    with pytest.raises(ToolError, match="No LSP server available"):
        await _hover(project)


async def test_what_a_server_is_given_in_secret_is_not_shown(project: Project) -> None:
    project.switch_on(replace(SPEC, env=(("SECRET", "s3cr3t-word"),)))
    project.play(mode="dies")
    with pytest.raises(ToolError, match="does not work"):
        await _hover(project)
    async with asyncio.timeout(60):
        while not project.states:
            await asyncio.sleep(0.01)
    assert project.states[-1].reason == "cannot find the •••"


async def test_a_server_that_is_never_ready_is_ended(project: Project) -> None:
    project.pool = Pool(4, patience=replace(LONG, start_s=0.5))
    project.switch_on(SPEC)
    project.play(mode="never_ready")
    with pytest.raises(ToolError, match="does not work: scripted"):
        await _hover(project)
    assert len(project.pool) == 0


async def test_a_line_before_the_first_message_is_passed_over(project: Project) -> None:
    project.play(mode="banner")
    assert await _hover(project) == [{"contents": {"kind": "markdown", "value": "about one"}}]


async def test_what_a_server_asks_is_answered_and_changes_nothing(project: Project) -> None:
    items = [{"section": "scripted"}, {"section": "scripted.level"}, {"section": "else"}, 7, None]
    edit = {"changes": {(project.folder / "a.txt").as_uri(): []}}
    registration = {"id": "1", "method": "workspace/symbol"}
    project.play(
        asks=[
            ["workspace/configuration", {"items": items}],
            ["workspace/configuration", "nonsense"],
            ["workspace/workspaceFolders", None],
            ["workspace/applyEdit", {"edit": edit}],
            ["window/workDoneProgress/create", {"token": 1}],
            ["window/showDocument", {"uri": "https://example.org"}],
            ["client/registerCapability", {"registrations": [registration, 5]}],
            ["client/unregisterCapability", {"unregisterations": "all"}],
            ["something/else", {}],
        ]
    )
    await _hover(project)
    async with asyncio.timeout(60):
        while True:
            answers = [one for one in await project.heard() if "method" not in one]
            if len(answers) > 9:
                break
    settings = {"scripted": {"level": 3}, "other": True}
    named = {"uri": project.folder.as_uri(), "name": "project"}
    results = {one["id"]: one.get("result", one.get("error")) for one in answers if "id" in one}
    assert [results[f"ask-{number}"] for number in range(9)] == [
        [{"level": 3}, 3, settings, settings, settings],
        [],
        [named],
        {"applied": False, "failureReason": "files are changed by tools only"},
        None,
        {"success": False},
        None,
        None,
        {"code": -32601, "message": "no method something/else"},
    ]


async def test_a_server_sees_no_more_than_commands_and_changes_nothing(project: Project) -> None:
    project.play(mode="writes")
    await _hover(project)
    heard = await project.heard()
    environment = heard[0]["environment"]
    assert environment["SCRIPTED"] == "yes"
    assert environment["HOME"] == "/agent"
    secrets = [name for name in environment if "KEY" in name or "DATABASE" in name]
    assert secrets == ["GIT_CONFIG_KEY_0"], "the name of a setting of git, not a key"
    assert {"write": "Read-only file system"} in heard
    assert not (project.folder / "planted.txt").exists()


async def test_what_a_server_starts_ends_with_it(project: Project) -> None:
    project.play(mode="spawns", sleep="86417")
    await _hover(project)
    async with asyncio.timeout(30):
        while not marked_processes("86417"):
            await asyncio.sleep(0.01)
    sandbox = project.context.sandbox
    await project.pool.close_session(sandbox.layout.session_dir)  # type: ignore[attr-defined]
    assert not marked_processes("86417")
    assert [state.status for state in project.states] == ["connected", "gone"]


async def test_another_sessions_servers_stay(project: Project, tmp_path: Path) -> None:
    await _hover(project)
    await project.pool.close_session(tmp_path / "another")
    assert len(project.pool) == 1


async def test_an_unused_server_is_ended(project: Project) -> None:
    project.pool = Pool(4, idle_s=0.2, patience=LONG)
    project.switch_on(SPEC)
    await _hover(project)
    async with asyncio.timeout(30):
        while len(project.pool):
            await asyncio.sleep(0.01)
    assert await _hover(project)
    await project.pool.close()


async def test_the_server_unused_for_longest_makes_room(project: Project) -> None:
    project.pool = Pool(1, patience=LONG)
    project.switch_on(SPEC)
    await _hover(project)
    (project.folder / "b.zzz").write_text("x")
    project.switch_on(replace(SPEC, id="second", extensions=frozenset({".zzz"})))
    await project.context.call("lsp", operation="hover", filePath="b.zzz", line=1, character=1)
    assert [job.spec.id for job in project.pool._running] == ["second"]
    await project.pool.close()


async def test_without_room_there_is_no_server(project: Project) -> None:
    project.pool = Pool(0)
    project.switch_on(SPEC)
    with pytest.raises(ToolError, match="No LSP server available"):
        await _hover(project)
