"""Packages beside the server whose hooks and tools fail, or are asked about odd calls."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.plugins.loading import plugin_states
from sessions.models import Project, ServerProcess, Session
from sessions.present.plugins import installed_rows
from sessions.processes import process_name
from teams.models import User
from tests.installed_plugins import loaded, write_package
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import script
from tests.sessions.runner.drains import allow_bash
from tests.sessions.runner.plugin_files import PATH, Write, called, hooks, states, turn
from tests.sessions.runner.test_installed_plugins import GUARD, permit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


async def test_calls_that_a_guard_fails_at_do_not_switch_it_off_for_others(
    session: Session, alice: User, tmp_path: Path
) -> None:
    write_package(tmp_path, "guard", GUARD)
    await in_db(allow_bash, session)
    said: list[dict[str, Any]] = [{"command": f"echo crash {n}"} for n in range(4)]
    calls = [{}, *said, {"command": "echo odd"}, {"command": "echo fine"}]
    steps = [[{"tool": "bash", "input": one}] for one in calls]
    with loaded(tmp_path):
        await turn(alice, session, script(*steps))
        [row] = await in_db(installed_rows)
    found = [state.get("output", state.get("error")) for state in await states(session)]
    assert found == ["The plugin guard could not be asked about this call."] * 6 + ["fine"]
    assert row.state == "Loaded"
    assert "crash" not in row.why


async def test_a_guard_works_while_another_hook_of_its_package_rests(
    session: Session, alice: User, tmp_path: Path
) -> None:
    texts = "\n    @hookimpl\n    def context_sources():\n        raise KeyError('x')\n"
    write_package(tmp_path, "guard", GUARD + texts)
    await in_db(allow_bash, session)
    with loaded(tmp_path):
        for _ in range(4):
            await turn(alice, session, script([{"text": "done"}]))
        await turn(alice, session, called("bash", command="echo fine"))
        assert (await in_db(installed_rows))[0].state == "Switched off for ten minutes"
    assert [state["output"] for state in await states(session)] == ["fine"]


async def test_a_process_that_runs_another_version_than_the_installed_one_has_to_be_restarted(
    session: Session, tmp_path: Path
) -> None:
    write_package(tmp_path, "guard", GUARD)
    here = process_name()
    with loaded(tmp_path):
        [row] = await in_db(installed_rows)
        assert (row.version, row.why) == ("1.0", "")
        shutil.rmtree(tmp_path / "guard-1.0.dist-info")
        [row] = await in_db(installed_rows)
        assert row.why == f"It is no longer installed. Restart {here} to unload it."
        write_package(tmp_path, "guard", GUARD, version="2.0")
        new = {**plugin_states()["guard"], "version": "2.0"}
        now = timezone.now()
        told = {"plugins": {"guard": new}, "seen_at": now, "started_at": now}
        await in_db(lambda: ServerProcess.objects.create(name="far:1", kind="worker", **told))
        [row] = await in_db(installed_rows)
        assert (row.version, row.state) == ("1.0, 2.0", "Loaded")
        assert row.why == f"Version 2.0 is installed. Restart {here} to load it."


@pytest.mark.parametrize("code", ["o.args = 5", "delete o.args", "o.args = null"])
async def test_a_guard_is_not_asked_about_a_call_without_arguments(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    tmp_path: Path,
    code: str,
) -> None:
    write_plugin(hooks(**{"tool.execute.before": code}))
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    write_package(tmp_path, "guard", GUARD)
    with loaded(tmp_path):
        session = await turn(alice, session, called("bash", command="echo fine"))
        assert (await in_db(installed_rows))[0].why == ""
    [state] = await states(session)
    assert session.outcome == "done"
    assert f"{PATH} has left no arguments" in state["error"]


@pytest.mark.parametrize(
    ("code", "left"),
    [
        ("delete o.title", "has left no arguments of the call, or no text of its result"),
        ("o.output = { a: 1 }", "has left no arguments of the call, or no text of its result"),
        ("o.args = { command: 'echo hide' }", "fine"),
    ],
)
async def test_a_result_without_a_text_ends_no_turn(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    tmp_path: Path,
    code: str,
    left: str,
) -> None:
    write_plugin(hooks(**{"tool.execute.after": code}))
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    write_package(tmp_path, "guard", GUARD)
    with loaded(tmp_path):
        session = await turn(alice, session, called("bash", command="echo fine"))
    [state] = await states(session)
    assert session.outcome == "done"
    assert left in state.get("output", state.get("error"))


NESTED = """
    def nested():
        value = 1
        for _ in range(3000):
            value = [value]
        return value

    def run(call, given):
        exec(given["code"])
        return ToolOutput("fine", "fine", {"value": eval(given["value"])})

    @hookimpl
    def tools():
        return [PluginTool("run", "Runs.", {"type": "object"}, run, limit_s=20)]

    @hookimpl
    def after_tool(call, arguments, output):
        if "nested" in arguments["value"]:
            return ToolOutput("fine", "fine", {"value": nested()})
"""


@pytest.mark.parametrize(
    ("code", "value", "error"),
    [
        ("raise SystemExit", "1", "a fault in the server"),
        ("raise KeyboardInterrupt", "1", "a fault in the server"),
        ("next(iter(()))", "1", "a fault in the server"),
        ("", "float('nan')", "a fault in the server"),
        ("", "'nested'", "The plugin odd could not be asked about this call."),
    ],
)
async def test_odd_ends_of_a_call_end_nothing_else(
    session: Session,
    project: Project,
    alice: User,
    tmp_path: Path,
    code: str,
    value: str,
    error: str,
) -> None:
    write_package(tmp_path, "odd", NESTED)
    await in_db(permit, project, run="allow")
    with loaded(tmp_path):
        session = await turn(alice, session, called("run", code=code, value=value))
    [state] = await states(session)
    assert session.outcome == "done"
    assert error in state["error"]
