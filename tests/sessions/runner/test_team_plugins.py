from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.team_plugins import remove_team_plugin
from sessions.models import Project, Session, State, ToolDescription
from sessions.present.pages.team_plugins import build_team_plugins
from sessions.present.plugins import known_plugins
from sessions.repository.globs import forget_found
from sessions.repository.packages import folder_of
from teams.access import access_team
from teams.models import Team, User
from tests.factories import make_user
from tests.npm_registry import FakeRegistry, serving
from tests.sessions.agents.test_brought import trust
from tests.sessions.runner.drains import allow_bash
from tests.sessions.runner.plugin_files import GUARD, Write, called, on, states, turn
from tests.sessions.team_plugins import publish, trusted

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]
ECHO = 'o.args.command += "; echo " + (given?.word ?? "package")'


@pytest.fixture
def npm(settings: Any, tmp_path: Path) -> Iterator[FakeRegistry]:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with serving() as registry:
        settings.NPM_REGISTRY = registry.address
        yield registry


async def commands(session: Session, user: User) -> list[str]:
    session = await turn(user, session, called("bash", command="true"))
    assert session.state == State.IDLE
    return [state["input"]["command"] for state in await states(session)]


async def test_a_teams_package_runs_before_the_plugins_of_a_repository_until_it_is_removed(
    npm: FakeRegistry,
    session: Session,
    project: Project,
    team: Team,
    alice: User,
    write_plugin: Write,
) -> None:
    publish(npm, {GUARD: ECHO})
    row = await in_db(trusted, alice, team)
    await in_db(allow_bash, session)
    # Nobody has trusted the files of the repository.
    write_plugin(on(GUARD, 'o.args.command += "; echo file"'))
    assert await commands(session, alice) == ["true; echo package"]
    await in_db(trust, project, alice)
    assert (await commands(session, alice))[1:] == ["true; echo package; echo file"]
    _, state = await states(session)
    assert [note["path"] for note in state["by"]["plugins"]] == [
        "one@1.0.0",
        ".opencode/plugin/a.js",
    ]
    [ops, _] = await in_db(known_plugins)
    assert (ops.plugin.path, ops.plugin.state, ops.plugin.hooks) == ("one@1.0.0", "Loaded", [GUARD])
    shown = await in_db(lambda: build_team_plugins(access_team(alice, team.slug)))
    assert [(one.project, one.plugin.state) for one in shown.plugins[0].uses] == [
        (project.name, "Loaded")
    ]
    await in_db(lambda: remove_team_plugin(access_team(alice, team.slug), plugin=row.pk))
    assert (await commands(session, alice))[2:] == ["true; echo file"]


async def test_the_servers_package_runs_before_the_teams(
    npm: FakeRegistry, session: Session, team: Team, alice: User
) -> None:
    publish(npm, {GUARD: ECHO})
    npm.put("two", "1.0.0", {"index.js": on(GUARD, 'o.args.command += "; echo server"')})
    await in_db(trusted, alice, team)
    root = await in_db(make_user, "root@example.com", operator=True)
    row = await in_db(trusted, root, None, "two@1.0.0")
    shutil.rmtree(folder_of(row.digest))
    await in_db(allow_bash, session)
    assert await commands(session, alice) == ["true; echo server; echo package"]


async def test_what_the_servers_package_says_only_the_team_reads(
    npm: FakeRegistry, session: Session, team: Team, alice: User
) -> None:
    code = "import { readFileSync } from 'fs'; throw new Error(readFileSync('till.py', 'utf8'))"
    npm.put("one", "1.0.0", {"index.js": code})
    Path(session.worktree, "till.py").write_text("the till of a team")
    root = await in_db(make_user, "root@example.com", operator=True)
    row = await in_db(trusted, root, None)
    await turn(alice, session, called("bash", command="true"))
    shown = await in_db(lambda: build_team_plugins(access_team(alice, team.slug)))
    [use] = shown.of_server[0].uses
    assert (use.plugin.state, use.plugin.why) == ("Failed", "the till of a team")
    [ops] = (await in_db(build_team_plugins, root)).plugins[0].uses
    assert (ops.project, ops.plugin.state) == ("Acme / shop", "Failed")
    await in_db(remove_team_plugin, root, plugin=row.pk)
    assert "till" not in repr((ops, await in_db(known_plugins)))


async def test_trusted_settings_of_a_repository_give_a_package_its_options(
    npm: FakeRegistry, session: Session, project: Project, team: Team, alice: User
) -> None:
    publish(npm, {GUARD: ECHO})
    await in_db(trusted, alice, team)
    await in_db(allow_bash, session)
    settings = Path(project.directory, "opencode.json")
    settings.write_text('{"plugin": [["one@1.0.0", {"word": "given"}]]}')
    forget_found()
    assert await commands(session, alice) == ["true; echo package"]
    await in_db(trust, project, alice)
    assert (await commands(session, alice))[1:] == ["true; echo given"]


async def test_files_that_are_not_on_this_host_are_fetched_as_they_were_pinned(
    npm: FakeRegistry, session: Session, team: Team, alice: User
) -> None:
    publish(npm, {GUARD: ECHO})
    row = await in_db(trusted, alice, team)
    await in_db(allow_bash, session)
    shutil.rmtree(folder_of(row.digest))
    assert await commands(session, alice) == ["true; echo package"]


async def test_a_guard_that_was_changed_in_the_registry_forbids(
    npm: FakeRegistry, session: Session, team: Team, alice: User
) -> None:
    publish(npm, {GUARD: ECHO})
    row = await in_db(trusted, alice, team)
    await in_db(allow_bash, session)
    shutil.rmtree(folder_of(row.digest))
    publish(npm, {GUARD: "o.args.command = 'echo other'"})
    await turn(alice, session, called("bash", command="true"))
    [state] = await states(session)
    assert state["status"] == "error"
    assert "is not what was pinned" in state["error"]
    assert not folder_of(row.digest).exists()
    [described] = await in_db(lambda: list(ToolDescription.objects.all()))
    assert "is not what was pinned" in described.plugins[0]["failed"]
