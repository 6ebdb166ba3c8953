from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.plugins.loading import installed_plugins
from opencode_web.lib.plugins.values import TerminalLocation
from sessions.api import terminals as routes
from sessions.models import Project, Terminal
from sessions.stream.sse import Scope
from sessions.terminals.life import LOST, NEVER_BEGUN, settle_terminals
from sessions.terminals.shells import installed_shells
from teams.auth import authenticate_user
from teams.models import AuditEntry, Team, User
from tests.installed_plugins import loaded, write_package
from tests.sessions.stream.event_reader import stream
from tests.sessions.terminals.conftest import Person
from tests.sessions.terminals.shell import attached

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_shape_is_that_of_the_wire(ann: Person, project: Project) -> None:
    info = await ann.open(title="  Mine  ", cwd=".", args=["--norc"])
    terminal_id, pid = info.pop("id"), info.pop("pid")
    assert terminal_id.startswith("pty_")
    assert pid > 1
    assert info == {
        "title": "Mine",
        "command": next(shell.path for shell in installed_shells() if shell.name == "bash"),
        "args": ["--norc", "-l"],
        "cwd": project.directory,
        "status": "running",
    }
    again = (await ann.call("get", f"/pty/{terminal_id}")).json()
    assert (await ann.call("get", "/pty")).json() == [again]
    assert [(await ann.open())["title"] for _ in range(2)] == ["Terminal 1", "Terminal 2"]


async def test_the_second_version_wraps_it(ann: Person, project: Project) -> None:
    location = {
        "directory": project.directory,
        "project": {"id": project.pk, "directory": project.directory},
    }
    made = (await ann.call("post", "/api/pty", {})).json()
    assert made["location"] == location
    terminal_id = made["data"]["id"]
    assert (await ann.call("get", "/api/pty")).json() == {
        "location": location,
        "data": [made["data"]],
    }
    assert (await ann.call("get", f"/api/pty/{terminal_id}")).json() == made
    renamed = (await ann.call("put", f"/api/pty/{terminal_id}", {"title": "Other"})).json()
    assert renamed["data"]["title"] == "Other"
    response = await ann.call("delete", f"/api/pty/{terminal_id}")
    assert (response.status_code, response.content) == (204, b"")
    assert (await ann.call("get", f"/api/pty/{terminal_id}")).status_code == 404


async def test_shells_are_programs_with_a_name(ann: Person) -> None:
    shells = (await ann.call("get", "/pty/shells")).json()
    assert {"path", "name", "acceptable"} == set(shells[0])
    assert "bash" in [shell["name"] for shell in shells if shell["acceptable"]]
    assert all(Path(shell["path"]).is_file() for shell in shells)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"cwd": "/etc"}, "outside the project"),
        ({"cwd": "../.."}, "outside the project"),
        ({"env": {"1BAD": "x"}}, "not a valid variable name"),
        ({"env": {"A=B": "x"}}, "not a valid variable name"),
        ({"env": {"A": "x\0"}}, "NUL"),
        ({"env": {"A": "x" * 70_000}}, "65536 bytes"),
        ({"args": ["x" * 30_000] * 2}, "32768 bytes"),
        ({"command": "a\0b"}, "NUL"),
        ({"args": "no list"}, "args"),
    ],
)
async def test_what_cannot_be_run_is_refused(ann: Person, body: dict[str, Any], said: str) -> None:
    response = await ann.call("post", "/pty", body)
    assert response.status_code == 400
    assert said in response.json()["data"]["message"]
    assert not await in_db(Terminal.objects.exists)


@pytest.mark.parametrize("size", [{"rows": 0, "cols": 5}, {"rows": 5}, {"rows": 5, "cols": 9999}])
async def test_a_size_is_that_of_a_terminal(ann: Person, size: dict[str, int]) -> None:
    info = await ann.open()
    response = await ann.call("put", f"/pty/{info['id']}", {"size": size})
    assert response.status_code == 400


async def test_a_link_out_of_the_project_is_not_followed(ann: Person, project: Project) -> None:
    (Path(project.directory) / "out").symlink_to("/etc")
    response = await ann.call("post", "/pty", {"cwd": "out"})
    assert "outside the project" in response.json()["data"]["message"]


async def test_a_program_that_ends_at_once_is_told(ann: Person) -> None:
    info = await ann.open(command="/bin/true", args=[])
    async with attached_or_ended(info["id"], ann) as code:
        assert code == 0


class attached_or_ended:
    def __init__(self, terminal_id: str, person: Person) -> None:
        self._id, self._person = terminal_id, person

    async def __aenter__(self) -> int:
        while True:
            now = (await self._person.call("get", f"/pty/{self._id}")).json()
            if now["status"] == "exited":
                return int(now["exitCode"])

    async def __aexit__(self, *_: object) -> None:
        return


async def test_others_see_nothing_of_it_but_admins_see_that_it_is_there(
    ann: Person, bill: Person, adam: User, team: Team, project: Project
) -> None:
    info = await ann.open()
    address = f"/pty/{info['id']}"
    assert (await bill.call("get", "/pty")).json() == []
    for method in ("get", "delete"):
        assert (await bill.call(method, address)).status_code == 404
    admin = await in_db(Person, adam, team, project)
    assert [row["id"] for row in (await admin.call("get", "/pty")).json()] == [info["id"]]
    assert (await admin.call("put", address, {"title": "x"})).status_code == 403
    response = await admin.call("post", f"{address}/connect-token", **{"x-opencode-ticket": "1"})
    assert response.status_code == 403
    assert (await admin.call("delete", address)).json() is True
    entries = AuditEntry.objects.filter(target_type="terminal").order_by("pk")
    assert [(entry.action, entry.actor_id) for entry in await in_db(list, entries)] == [
        ("terminal.opened", ann.user.pk),
        ("terminal.removed", adam.pk),
    ]


async def test_only_so_many_are_open(ann: Person, bill: Person, settings: Any) -> None:
    settings.TERMINALS_PER_PERSON = 1
    await ann.open()
    response = await ann.call("post", "/pty", {})
    assert response.status_code == 429
    assert "1 open terminals" in response.json()["data"]["message"]
    settings.TERMINALS_PER_TEAM = 1
    response = await bill.call("post", "/pty", {})
    assert "The team has reached" in response.json()["data"]["message"]
    teams = Team.objects.filter(name="Acme")
    await in_db(teams.update, max_terminals=2)
    assert (await bill.call("post", "/pty", {})).status_code == 200
    settings.TERMINALS_PER_PERSON = 9
    await in_db(teams.update, max_terminals=0)
    response = await bill.call("post", "/pty", {})
    assert (response.status_code, "Terminals are turned off." in response.text) == (403, True)


@pytest.mark.parametrize(
    "config", [{"limits": {"terminals": 0}}, {"permission": {"bash": "deny"}}], ids=str
)
async def test_a_team_can_do_without(ann: Person, team: Team, config: dict[str, Any]) -> None:
    team.config = config
    await in_db(team.save)
    response = await ann.call("post", "/pty", {})
    assert response.status_code == 403


async def test_what_the_client_gives_reaches_the_program_and_nobody_else(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_SECRET", "canary")
    info = await ann.open(env={"PS1": "ready> ", "GIVEN": "sesame"})
    async with attached(info["id"], ann.headers) as shell:
        await shell.until("ready> ")
        await shell.type("echo =$GIVEN=; env | grep -c canary; echo do''ne\r")
        assert "=sesame=\r\n0\r\n" in await shell.until("done")
    row = await in_db(Terminal.objects.values().get)
    assert "sesame" not in str(row)
    assert "sesame" not in str(await in_db(list, AuditEntry.objects.values()))


SEEN: list[TerminalLocation] = []


def overlay(location: TerminalLocation) -> Mapping[str, str]:
    SEEN.append(location)
    return {"FROM_HOST": location.cwd, "GIVEN": "the host's"}


def broken_overlay(location: TerminalLocation) -> Mapping[str, str]:
    raise KeyError("nothing there")


async def test_the_host_adds_to_the_environment_of_a_location(
    ann: Person, project: Project, settings: Any
) -> None:
    settings.TERMINAL_ENVIRONMENT = f"{__name__}.overlay"
    SEEN.clear()
    (Path(project.directory) / "sub").mkdir()
    info = await ann.open(cwd="sub", env={"PS1": "ready> ", "GIVEN": "the client's"})
    async with attached(info["id"], ann.headers) as shell:
        await shell.until("ready> ")
        await shell.type("echo =$FROM_HOST=$GIVEN=; echo do''ne\r")
        seen = await shell.until("done")
    cwd = f"{project.directory}/sub"
    assert f"={cwd}=the host's=" in seen
    user = ann.user
    assert [
        TerminalLocation(project.pk, project.team_id, user.pk, user.email, project.directory, cwd)
    ] == SEEN


async def test_an_overlay_that_fails_keeps_the_terminal_from_starting(
    ann: Person, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TERMINAL_ENVIRONMENT = f"{__name__}.broken_overlay"
    monkeypatch.setattr("tests.sessions.terminals.conftest.EXPECTED", KeyError)
    response = await ann.call("post", "/pty", {})
    assert response.status_code == 400
    assert "its log says why" in response.json()["data"]["message"]


async def test_fr_04_plugins_add_variables_and_one_that_fails_keeps_out_only_its_own(
    ann: Person, tmp_path: Path
) -> None:
    hook = "@hookimpl\ndef terminal_environment(terminal): return "
    write_package(tmp_path, "one", hook + "{'GIVEN': terminal.email, 'NUMBER': 3}")
    write_package(tmp_path, "two", hook + "1 / 0")
    write_package(tmp_path, "three", hook + "[1]")
    write_package(tmp_path, "four", hook + r"{'GIVEN': 'a\0b'}")
    write_package(tmp_path, "five", hook + "{'A=B': 'c'}")
    with loaded(tmp_path):
        info = await ann.open(env={"PS1": "ready> ", "GIVEN": "the client's"})
        async with attached(info["id"], ann.headers) as shell:
            await shell.until("ready> ")
            await shell.type("echo =$GIVEN=$NUMBER=; echo do''ne\r")
            seen = await shell.until("done")
        failed = {plugin.name: plugin.fault for plugin in installed_plugins() if plugin.fault}
    assert f"={ann.user.email}=3=" in seen
    assert failed["two"].startswith("terminal_environment: ZeroDivisionError")
    assert failed["three"] == "terminal_environment: returned no variables"
    for name in ("four", "five"):
        assert failed[name] == "terminal_environment: returned what no variable can be"


async def test_without_a_worker_whoever_asked_is_told(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.wake._send", lambda *_, **__: None)
    monkeypatch.setattr(routes, "START_S", 0.1)
    response = await ann.call("post", "/pty", {})
    assert response.status_code == 503
    assert NEVER_BEGUN in response.json()["data"]["message"]
    assert not await in_db(Terminal.objects.exists)


def left(project: Project, user: User, **fields: Any) -> Terminal:
    fields = {"lease_until": timezone.now() - timedelta(seconds=1), **fields}
    return Terminal.objects.create(
        id=f"pty_{len(Terminal.objects.all())}",
        project=project,
        creator=user,
        title="t",
        command="/bin/bash",
        cwd=project.directory,
        **fields,
    )


async def test_a_dead_worker_ends_its_terminals(ann: Person, alice: User, project: Project) -> None:
    lost = await in_db(left, project, alice, status="running", pid=7)
    unborn = await in_db(left, project, alice)
    alive = await in_db(
        left, project, alice, status="running", lease_until=timezone.now() + timedelta(minutes=1)
    )
    listed = [row["id"] for row in (await ann.call("get", "/pty")).json()]
    assert listed == [alive.pk]
    async with stream(authenticate_user(alice)) as reader:
        await in_db(settle_terminals)
        assert (await reader.next()).event == ("pty.exited", {"id": lost.pk, "exitCode": -1})
    for row, detail in ((lost, LOST), (unborn, NEVER_BEGUN)):
        await in_db(row.refresh_from_db)
        assert (row.status, row.exit_code, row.detail) == ("exited", None, detail)
    await in_db(alive.refresh_from_db)
    assert alive.status == "running"


async def test_old_ones_are_forgotten(alice: User, project: Project) -> None:
    await in_db(left, project, alice, status="exited", ended_at=timezone.now() - timedelta(days=2))
    kept = await in_db(left, project, alice, status="exited", ended_at=timezone.now())
    await in_db(settle_terminals)
    assert [row.pk for row in await in_db(list, Terminal.objects.all())] == [kept.pk]


async def test_what_becomes_of_it_is_told_to_its_person_only(
    ann: Person, alice: User, adam: User, bob: User, project: Project
) -> None:
    async with (
        stream(Scope(authenticate_user(alice), is_global=True)) as hers,
        stream(authenticate_user(adam)) as his,
        stream(authenticate_user(bob)) as others,
    ):
        info = await ann.open()
        await ann.call("put", f"/pty/{info['id']}", {"title": "Other"})
        async with attached(info["id"], ann.headers) as shell:
            await shell.type("exit 3\r")
            await shell.closed()
        await ann.call("delete", f"/pty/{info['id']}")
        told = [await hers.next() for _ in range(4)]
        assert {frame.data["directory"] for frame in told} == {project.directory}
        assert [frame.event for frame in told] == [
            ("pty.created", {"info": info}),
            ("pty.updated", {"info": {**info, "title": "Other"}}),
            ("pty.exited", {"id": info["id"], "exitCode": 3}),
            ("pty.deleted", {"id": info["id"]}),
        ]
        # The others' next is what everybody sees.
        renamed = await ann.call("post", "/session", {"title": "seen by all"})
        assert renamed.status_code == 200
        for reader in (his, others):
            assert (await reader.next()).event[0] == "session.created"
