"""What plugins read and hear with the rights of who has prompted."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.models import Project, Session, State
from sessions.repository.plugins import LIMITS_S, SYSTEM
from sessions.runner.offers.plugin_client import MAX_CALLS, PluginClient
from teams.models import Membership, Role, Team, User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import make_project, make_session, prompt, script
from tests.sessions.runner.drains import drain
from tests.sessions.runner.plugin_files import Write, turn
from tools.errors import ToolError

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]
Requests = list[ProviderRequest]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS_S, SYSTEM, 10.0)


@pytest.fixture
def private(bob: User, project: Project) -> Session:
    """A session of somebody else that nobody else sees."""
    return make_session(bob, project, private=True)


def asking(code: str) -> str:
    """A plugin that tells the model what `client` has answered to it."""
    return (
        "let client\nexport const One = async (input) => {\n  client = input.client\n"
        f"  return {{ '{SYSTEM}': async (i, o) => {{\n    const said = {{}}\n    {code}\n"
        "    o.system.push(JSON.stringify(said))\n  } }\n}"
    )


def said(request: ProviderRequest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.system[-1])
    return found


READS = """
const id = i.sessionID
said.session = (await client.session.get({ path: { id } })).data.id
said.flat = (await client.session.get({ sessionID: id })).data.id
said.list = (await client.session.list()).data.map((one) => one.id)
said.status = (await client.session.status()).data
said.texts = (await client.session.messages({ path: { id }, query: { limit: 5 } })).data
  .flatMap((one) => one.parts.map((part) => part.text))
said.children = (await client.session.children({ path: { id } })).data
said.todo = (await client.session.todo({ path: { id } })).data
said.project = (await client.project.current()).data.id
said.folder = (await client.path.get()).data.directory
said.agents = (await client.app.agents()).data.map((one) => one.name)
said.config = (await client.config.get()).data
said.file = (await client.file.read({ query: { path: "a.txt" } })).data.content
said.files = (await client.file.list({ query: { path: "." } })).data.map((one) => one.name)
said.found = (await client.find.files({ query: { query: "a.txt" } })).data
said.lines = (await client.find.text({ query: { pattern: "^hello$" } })).data.length
said.many = (await Promise.all(Array.from({ length: 20 }, () => client.path.get()))).length
said.log = (await client.app.log({ body: { service: "a", level: "info", message: "b" } })).data
said.providers = (await client.provider.list()).data
said.toast = (await client.tui.showToast({ body: { message: "b", variant: "info" } })).data
"""


async def test_it_reads_what_the_person_sees_of_the_project(
    session: Session,
    private: Session,
    project: Project,
    alice: User,
    team: Team,
    write_plugin: Write,
    requests: Requests,
) -> None:
    project.config = {"provider": {"demo": {"options": {"apiKey": "s3cret"}}}}
    await in_db(project.save)
    Path(project.directory, "a.txt").write_text("hello\n")
    write_plugin(asking(READS))
    await in_db(trust, project, alice)
    await in_db(Membership.objects.filter(team=team, user=alice).update, role=Role.MEMBER)
    own = await in_db(make_session, alice, project, private=True)
    session = await turn(alice, session, script([{"text": "done"}]))
    assert session.state == State.IDLE
    found = said(requests[0])
    assert own.pk not in json.dumps(found)
    assert found["session"] == found["flat"] == session.pk
    assert found["list"] == [session.pk]
    assert private.pk not in json.dumps(found)
    assert list(found["status"]) == [session.pk]
    assert "done" in found["texts"][0]
    assert (found["children"], found["todo"]) == ([], [])
    assert (found["project"], found["folder"]) == (project.pk, project.directory)
    assert "build" in found["agents"]
    assert "s3cret" not in json.dumps(found)
    assert "demo" in found["providers"]["connected"]
    assert found["file"] == "hello\n"
    assert "a.txt" in found["files"]
    assert found["found"] == ["a.txt"]
    assert found["lines"] == 1
    assert (found["log"], found["toast"], found["many"]) == (True, True, 20)


REFUSED = [
    *("auth.set", "config.update", "session.command", "session.shell", "session.revert"),
    *("session.delete", "session.share", "session.fork", "mcp.add", "pty.create"),
    *("instance.dispose", "permission.reply", "_client.get", "global.event"),
    *("event.subscribe", "postSessionIdPermissionsPermissionId"),
]


async def test_everything_else_is_refused_in_words_that_it_can_catch(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    calls = "".join(
        f"said[{name!r}] = await client.{name}({{}}).catch((error) => error.message)\n"
        for name in REFUSED
    )
    write_plugin(asking(calls))
    await in_db(trust, project, alice)
    session = await turn(alice, session, script([{"text": "done"}]))
    assert session.state == State.IDLE
    assert said(requests[0]) == {
        name: f"client.{name} is not available to plugins." for name in REFUSED
    }


async def test_other_sessions_and_projects_are_not_found(
    session: Session,
    private: Session,
    team: Team,
    project: Project,
    alice: User,
    write_plugin: Write,
    requests: Requests,
    tmp_path: Path,
) -> None:
    other = await in_db(make_project, team, tmp_path / "other", name="other")
    Path(other.directory, "key").write_text("s3cret")
    elsewhere = await in_db(make_session, alice, other)
    beside = await in_db(make_session, alice, project)
    ids = [elsewhere.pk, beside.pk, private.pk, "ses_none", "../x"]
    write_plugin(
        asking(
            f"for (const id of {json.dumps(ids)}) {{"
            "said[id] = (await client.session.messages({ path: { id } })).error.data.message }\n"
            f"for (const path of ['{other.directory}/key', '../other/key', '/etc/passwd'])"
            "said[path] = (await client.file.read({ query: { path } })).error.data.message"
        )
    )
    await in_db(trust, project, alice)
    session = await turn(alice, session, script([{"text": "done"}]))
    assert session.state == State.IDLE
    found = said(requests[0])
    assert {found[one].split(":")[0] for one in ids} == {found["ses_none"].split(":")[0]}
    assert len(found) == 8
    assert "s3cret" not in json.dumps(found)
    assert "root:" not in json.dumps(found)


async def test_calls_are_counted_and_end_with_the_hook(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(
        asking(
            "said.late = await globalThis.late\n"
            "globalThis.late = new Promise((done) => setTimeout(() => "
            "Promise.resolve().then(() => client.path.get())"
            ".then(() => done('answered'), (error) => done(error.message)), 700))\n"
            f"if (said.late) for (let n = 0; n < {MAX_CALLS + 1}; n++)"
            " await client.path.get().catch((error) => { said.most = error.message })\n"
        )
    )
    await in_db(trust, project, alice)
    await turn(alice, session, script([{"text": "done"}]))
    await asyncio.sleep(1)
    session = await turn(alice, session, script([{"text": "done"}]))
    assert session.state == State.IDLE
    assert said(requests[1]) == {
        "late": "client.path.get is only answered while a hook or a tool is at work.",
        "most": f"A hook can call client at most {MAX_CALLS} times.",
    }


async def test_rights_that_were_lost_are_lost_at_once(
    session: Session, alice: User, team: Team
) -> None:
    await in_db(prompt, alice, session, script([{"text": "done"}]))
    await drain(session)
    client = PluginClient(session)
    assert (await client("session.get", {}))["data"]
    await in_db(Membership.objects.filter(team=team, user=alice).delete)
    answer = await client("session.get", {})
    assert "data" not in answer
    assert answer["error"]
    alice.is_active = False
    await in_db(alice.save)
    with pytest.raises(ToolError, match="nobody is there"):
        await client("session.get", {})


HEARS = f"""
globalThis.heard = []
export const One = async () => ({{
  event: async ({{ event }}) => {{ heard.push([event.type, event.properties.sessionID]) }},
  "{SYSTEM}": async (i, o) => {{ o.system.push(JSON.stringify({{ heard }})) }},
}})
"""


async def test_it_hears_of_what_the_person_sees(
    session: Session,
    private: Session,
    project: Project,
    alice: User,
    bob: User,
    team: Team,
    write_plugin: Write,
    requests: Requests,
) -> None:
    write_plugin(HEARS)
    await in_db(trust, project, alice)
    await in_db(Membership.objects.filter(team=team, user=alice).update, role=Role.MEMBER)
    beside = await in_db(make_session, bob, project)
    own = await in_db(make_session, alice, project, private=True)
    await turn(alice, session, script([{"text": "done"}]))
    await turn(bob, private, script([{"text": "done"}]))
    await turn(alice, own, script([{"text": "done"}]))
    await turn(bob, beside, script([{"text": "done"}]))
    await asyncio.sleep(1.5)
    requests.clear()
    await turn(alice, session, script([{"text": "done"}]))
    heard = [(kind, of) for kind, of in said(requests[0])["heard"]]
    assert ("session.idle", session.pk) in heard
    assert ("message.part.updated", session.pk) in heard
    assert ("session.idle", beside.pk) in heard
    assert not {private.pk, own.pk} & {of for _, of in heard}
    assert not any("delta" in kind for kind, _ in heard)


async def test_one_that_only_hears_never_holds_up_a_turn(
    session: Session, project: Project, alice: User, write_plugin: Write
) -> None:
    write_plugin("export const One = async () => ({ event: () => { for (;;) {} } })")
    await in_db(trust, project, alice)
    for _ in range(2):
        session = await turn(alice, session, script([{"text": "done"}]))
        assert session.state == State.IDLE
