"""What people see of plugins, and how they have them loaded anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden
from providers.llm.messages import ProviderRequest
from sessions.access import access_project
from sessions.actions.trust import reload_plugins, withdraw_trust
from sessions.approvals.hold import NoLongerFits
from sessions.models import Project, Session
from sessions.present.pages.repository import build_repository_page
from sessions.present.plugins import PluginRow, known_plugins
from sessions.repository.globs import forget_found
from sessions.repository.plugins import SYSTEM
from sessions.runner.offers import custom_tools
from teams.auth import authenticate_user
from teams.models import AuditEntry, User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import script
from tests.sessions.runner.plugin_files import PATH, Write, hooks, reload, turn

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]


async def shown(project: Project) -> dict[str, PluginRow]:
    page = await in_db(build_repository_page, project)
    return {Path(plugin.path).name: plugin for plugin in page.plugins}


async def test_each_plugin_says_what_it_does_or_why_it_does_not(
    session: Session, project: Project, alice: User, write_plugin: Write
) -> None:
    write_plugin(hooks(**{SYSTEM: "", "event": "", "auth": "", "chat.headers": ""}))
    write_plugin("import './none.js'; export const One = async () => ({})", "b.js")
    write_plugin("export const One = async (): Promise<object> => ({ event() {} })", "c.ts")
    assert {one.state for one in (await shown(project)).values()} == {"Not trusted"}
    await in_db(trust, project, alice)
    assert {one.state for one in (await shown(project)).values()} == {"Loads in the next turn"}
    await turn(alice, session, script([{"text": "done"}]))
    found = await shown(project)
    assert (found["a.js"].state, found["a.js"].chip) == ("Loaded", "chip-done")
    assert found["a.js"].hooks == sorted([SYSTEM, "event"])
    assert found["a.js"].unused == [
        "auth: Keys and providers belong to the server.",
        "chat.headers: Headers could carry keys or change who pays.",
    ]
    assert (found["b.js"].state, found["b.js"].hooks) == ("Failed", [])
    assert "none.js cannot be imported" in found["b.js"].why
    typed = found["c.ts"]
    assert typed.state == "Loaded" or "TypeScript needs Node.js 22.13" in typed.why
    # What does nothing comes first.
    listed = await in_db(known_plugins)
    assert listed[0].plugin.why
    assert listed[-1].plugin.path == PATH


async def test_a_reload_starts_another_process_and_is_noted(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    requests: list[ProviderRequest],
) -> None:
    count = "globalThis.n = (globalThis.n ?? 0) + 1; o.system.push(`turn ${n}`)"
    write_plugin(hooks(**{SYSTEM: count}))
    await in_db(trust, project, alice)
    for _ in range(2):
        await turn(alice, session, script([{"text": "done"}]))
    await in_db(reload, project, alice)
    assert [one.state for one in (await shown(project)).values()] == ["Loads in the next turn"]
    await turn(alice, session, script([{"text": "done"}]))
    assert [request.system[-1] for request in requests] == ["turn 1", "turn 2", "turn 1"]
    entry = await in_db(AuditEntry.objects.filter(action="repository.plugins_reloaded").get)
    assert entry.actor_id == alice.pk


async def test_only_admins_reload_and_only_what_is_trusted(
    session: Session, project: Project, alice: User, bob: User, write_plugin: Write
) -> None:
    write_plugin(hooks(**{SYSTEM: ""}))
    access = await in_db(access_project, authenticate_user(alice), project.pk)
    with pytest.raises(NoLongerFits, match="no trusted plugins"):
        await in_db(reload_plugins, access)
    await in_db(trust, project, alice)
    theirs = await in_db(access_project, authenticate_user(bob), project.pk)
    with pytest.raises(Forbidden):
        await in_db(reload_plugins, theirs)
    await in_db(reload_plugins, access)
    await in_db(withdraw_trust, access)
    with pytest.raises(NoLongerFits):
        await in_db(reload_plugins, access)


async def test_files_that_change_before_they_are_loaded_are_not_loaded(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    requests: list[ProviderRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_plugin(hooks(**{SYSTEM: "o.system.push('trusted')"}))
    await in_db(trust, project, alice)
    real = custom_tools.brought_by

    def changed_meanwhile(*given: object) -> object:
        write_plugin(
            "import { writeFileSync } from 'fs'; writeFileSync('made', '');"
            + hooks(**{SYSTEM: "o.system.push('changed')"})
        )
        forget_found()
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(custom_tools, "brought_by", changed_meanwhile)
    await turn(alice, session, script([{"text": "done"}]))
    assert not {"trusted", "changed"} & {requests[0].system[-1]}
    assert not Path(project.directory, "made").exists()
