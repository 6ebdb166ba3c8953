"""Packages beside the server in a turn: their tools, texts and hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.plugins import calls, loading
from providers.llm.messages import ProviderRequest
from sessions.actions.permissions import reply_permission
from sessions.models import PermissionRequest, Project, Session, State
from sessions.present.conversation.plugin_notes import plugin_sentence
from sessions.present.plugins import installed_rows
from teams.models import User
from tests.installed_plugins import loaded, write_package
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import script, session_access
from tests.sessions.runner.drains import allow_bash, drain
from tests.sessions.runner.plugin_files import Write, called, states, turn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

COUNT = """
    async def count(call, given):
        if given["of"] == "nothing":
            raise ToolFailure("There is nothing to count.")
        if given["of"] == "stars":
            time.sleep(30)
        return ToolOutput(f"{len(given['of'])} in {call.tool}", f"Counted {call.agent}", {"n": 1})

    @hookimpl
    def tools():
        schema = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
        return [PluginTool("count", "Counts letters.", schema, count, limit_s=0.2)]
"""


def permit(project: Project, **rules: Any) -> None:
    project.config = {**project.config, "permission": rules}
    project.save()


async def test_a_tool_is_offered_asked_for_and_run(
    session: Session,
    project: Project,
    alice: User,
    requests: list[ProviderRequest],
    tmp_path: Path,
) -> None:
    write_package(tmp_path, "counting", COUNT)
    with loaded(tmp_path):
        session = await turn(alice, session, called("count", of="apples"))
        [asked] = await in_db(lambda: [*PermissionRequest.objects.filter(session=session)])
        assert (asked.permission, asked.patterns) == ("count", ["*"])
        assert "output" not in (await states(session))[0]
        access = await in_db(session_access, alice, session)
        await in_db(reply_permission, access, asked, reply="once")
        session = await drain(session)
    [state] = await states(session)
    assert (state["output"], state["title"]) == ("6 in count", "Counted build")
    assert state["metadata"]["n"] == 1
    [offered] = [tool for tool in requests[0].tools if tool.name == "count"]
    assert offered.description == "Counts letters."
    assert offered.schema["required"] == ["of"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"of": "nothing"}, "There is nothing to count."),
        ({"of": "stars"}, "The count tool took longer than 0.2 seconds and was given up."),
        ({"of": 3}, "invalid arguments: of: 3 is not of type 'string'"),
    ],
)
async def test_a_call_that_fails_is_an_error_for_the_model(
    session: Session,
    project: Project,
    alice: User,
    tmp_path: Path,
    given: dict[str, Any],
    error: str,
) -> None:
    write_package(tmp_path, "counting", COUNT)
    await in_db(permit, project, count="allow")
    with loaded(tmp_path):
        session = await turn(alice, session, called("count", **given))
    [state] = await states(session)
    assert session.state == State.IDLE
    assert error in state["error"]


async def test_a_denied_tool_is_not_offered_and_not_run(
    session: Session,
    project: Project,
    alice: User,
    requests: list[ProviderRequest],
    tmp_path: Path,
) -> None:
    write_package(tmp_path, "counting", COUNT)
    await in_db(permit, project, count="deny")
    with loaded(tmp_path):
        await turn(alice, session, called("count", of="apples"))
    assert "count" not in [tool.name for tool in requests[0].tools]
    [state] = await states(session)
    assert "6" not in str(state.get("output"))
    assert "count" in str(state)


GUARD = """
    @hookimpl
    def before_tool(call, arguments):
        command = arguments["command"]
        if "secret" in command:
            raise ToolFailure("No secrets here.")
        if "crash" in command:
            raise KeyError(command)
        if "slow" in command:
            time.sleep(30)
        if "odd" in command:
            return {"command": object()}
        if "more" in command:
            return {**arguments, "command": command + "; echo from the guard"}

    @hookimpl
    def after_tool(call, arguments, output):
        if "hide" in arguments["command"]:
            raise ToolFailure("The output was taken away.")
        if "more" in arguments["command"]:
            return ToolOutput(output.text + "[after]", "t:" + output.title, {"exit": 99, "x": 1})
"""


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LIMITS_S", dict.fromkeys(calls.LIMITS_S, 0.2))


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("echo secret", "guard: No secrets here."),
        ("echo crash", "The plugin guard could not be asked about this call."),
        ("echo slow", "The plugin guard could not be asked about this call."),
        ("echo odd", "The plugin guard could not be asked about this call."),
        ("echo hide", "guard: The output was taken away."),
    ],
)
async def test_a_guard_forbids_also_by_failing(
    session: Session,
    alice: User,
    tmp_path: Path,
    short_limits: None,
    command: str,
    error: str,
) -> None:
    write_package(tmp_path, "guard", GUARD)
    await in_db(allow_bash, session)
    with loaded(tmp_path):
        session = await turn(alice, session, called("bash", command=command))
    [state] = await states(session)
    assert session.state == State.IDLE
    assert (state["status"], state["error"]) == ("error", error)


async def test_what_a_hook_changes_is_what_is_asked_for_and_said_to_people(
    session: Session, project: Project, alice: User, tmp_path: Path
) -> None:
    write_package(tmp_path, "guard", GUARD)
    with loaded(tmp_path):
        session = await turn(alice, session, called("bash", command="echo more"))
        [asked] = await in_db(lambda: [*PermissionRequest.objects.filter(session=session)])
        assert "echo from the guard" in str(asked.metadata)
        access = await in_db(session_access, alice, session)
        await in_db(reply_permission, access, asked, reply="once")
        session = await drain(session)
    [state] = await states(session)
    # It was asked before the answer, and is not asked again after it.
    assert state["input"]["command"] == "echo more; echo from the guard"
    assert state["output"] == "more\nfrom the guard[after]"
    assert state["title"].startswith("t:")
    # A hook adds to what a tool says of its result, and changes nothing of it.
    assert (state["metadata"]["exit"], state["metadata"]["x"]) == (0, 1)
    assert plugin_sentence(state["by"]["plugins"]) == (
        "Changed by plugins: guard (tool.execute.before), guard (tool.execute.after)."
    )


async def test_a_hook_never_opens_what_rules_deny(
    session: Session, project: Project, alice: User, tmp_path: Path
) -> None:
    write_package(
        tmp_path,
        "opening",
        """
        @hookimpl
        def before_tool(arguments):
            return {**arguments, "command": "touch made"}
        """,
    )
    await in_db(permit, project, bash={"*": "allow", "touch *": "deny"})
    with loaded(tmp_path):
        await turn(alice, session, called("bash", command="echo fine"))
    [state] = await states(session)
    assert state["status"] == "error"
    assert not Path(project.directory, "made").exists()


async def test_one_of_the_operator_has_the_last_word_over_one_of_the_repository(
    session: Session, project: Project, alice: User, write_plugin: Write, tmp_path: Path
) -> None:
    write_plugin(
        "export const One = async () => ({'tool.execute.before': async (i, o) => {"
        " o.args.command = 'echo secret' }})"
    )
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    write_package(tmp_path, "guard", GUARD)
    with loaded(tmp_path):
        await turn(alice, session, called("bash", command="echo fine"))
    [state] = await states(session)
    assert state["error"] == "guard: No secrets here."


async def test_a_guard_that_is_late_again_and_again_rests_and_forbids_meanwhile(
    session: Session,
    alice: User,
    tmp_path: Path,
    short_limits: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_package(tmp_path, "guard", GUARD)
    await in_db(allow_bash, session)
    said = ("slow 1", "slow 2", "fine 1", "slow 3", "slow 4", "slow 5", "fine 2")
    steps = [[{"tool": "bash", "input": {"command": f"echo {word}"}}] for word in said]
    with loaded(tmp_path):
        await turn(alice, session, script(*steps))
        errors = [state.get("error", "") for state in await states(session)]
        [row] = await in_db(installed_rows)
        assert (row.state, row.version) == ("Switched off for ten minutes", "1.0")
        assert row.why == "before_tool: took longer than 0.2 seconds"
        assert [bool(error) for error in errors] == [True, True, False, True, True, True, True]
        assert "switched off for some minutes" in errors[-1]
        monkeypatch.setattr(loading, "REST_S", 0.0)
        [plugin] = loading.installed_plugins()
        plugin.rests_until.clear()
        await turn(alice, session, called("bash", command="echo fine"))
        assert (await states(session))[-1]["output"] == "fine"
        assert (await in_db(installed_rows))[0].state == "Loaded"


TEXTS = """
    TEXTS = {}

    @hookimpl
    def context_sources(place):
        if TEXTS.get("fail"):
            raise RuntimeError(TEXTS["fail"])
        return {name: text.format(place.worktree) for name, text in TEXTS.items()}
"""


@pytest.fixture
def told(requests: list[ProviderRequest], session: Session, alice: User) -> Callable[..., Any]:
    """Has a turn; returns the system texts of its request, and its messages."""

    async def told() -> tuple[str, str]:
        del requests[:]
        await turn(alice, session, script([{"text": "done"}]))
        return "\n".join(requests[0].system), str(requests[0].messages)

    return told


async def test_fr_06_a_text_is_added_changed_and_taken_back_within_an_epoch(
    session: Session,
    project: Project,
    tmp_path: Path,
    told: Callable[..., Any],
) -> None:
    write_package(tmp_path, "wiki", TEXTS)
    with loaded(tmp_path):
        [plugin] = loading.installed_plugins()
        texts = plugin.hooks["context_sources"].function.__globals__["TEXTS"]
        texts["style"] = "Write in {}."
        system, messages = await told()
        assert f"Write in {project.directory}." in system
        assert "From a plugin that the operator of this server has installed." in system
        texts["names"] = "Name things well."
        baseline, messages = await told()
        assert baseline == system
        assert 'from="wiki/names"' in messages
        assert "Name things well." in messages
        texts["names"] = "Name things badly."
        baseline, messages = await told()
        assert baseline == system
        assert "Name things badly." in messages
        # While it fails, what was said stays.
        texts["fail"] = "no"
        before = messages.count("no longer apply")
        baseline, messages = await told()
        assert (baseline, messages.count("no longer apply")) == (system, before)
        del texts["fail"], texts["names"]
        baseline, messages = await told()
        assert baseline == system
        assert "The instructions from wiki/names are gone and no longer apply." in messages
        assert "wiki/style are gone" not in messages
    # The package is gone, so that only its name is known.
    baseline, messages = await told()
    assert baseline == system
    assert "The instructions from wiki/style are gone and no longer apply." in messages
    kinds = await in_db(
        lambda: [*session.events.filter(type="context.started").values_list("type", flat=True)]
    )
    assert len(kinds) == 1


async def test_slow_texts_are_left_out_and_the_turn_goes_on(
    session: Session, tmp_path: Path, told: Callable[..., Any], short_limits: None
) -> None:
    write_package(
        tmp_path,
        "slow",
        """
        @hookimpl
        def context_sources():
            time.sleep(30)
        """,
    )
    write_package(tmp_path, "odd", "@hookimpl\ndef context_sources(): return {'a b': 'x'}")
    write_package(tmp_path, "quick", "@hookimpl\ndef context_sources(): return {'a': 'Quick.'}")
    with loaded(tmp_path):
        for _ in range(3):
            system, _messages = await told()
            assert "Quick." in system
        rows = {row.name: row for row in await in_db(installed_rows)}
    assert rows["slow"].state == "Switched off for ten minutes"
    assert rows["slow"].why == "context_sources: took longer than 0.2 seconds"
    assert "no plain name" in rows["odd"].why
    assert (rows["quick"].state, rows["quick"].why) == ("Loaded", "")


async def test_without_plugins_no_call_is_noted(session: Session, alice: User) -> None:
    await in_db(allow_bash, session)
    await turn(alice, session, called("bash", command="echo fine"))
    [state] = await states(session)
    assert "plugins" not in (state["by"] or {})
