from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Project, Terminal
from sessions.stream import quota, rights
from sessions.terminals import link, serving
from sessions.terminals.host import end_terminals
from sessions.terminals.life import end_terminals_in
from teams.access import access_team
from teams.actions import tokens
from teams.actions.members import change_role, remove_member
from teams.actions.tokens import revoke_token
from teams.models import Membership, Role, User
from tests.sessions.terminals.conftest import Person
from tests.sessions.terminals.shell import PATIENCE_S, Refused, Shell, attached
from tests.tools.sandbox.test_bubblewrap import marked_processes

pytestmark = pytest.mark.django_db(transaction=True)


@asynccontextmanager
async def shell(person: Person, query: str = "", **body: Any) -> AsyncIterator[Shell]:
    info = await person.open(**body)
    async with attached(info["id"], person.headers, query=query) as opened:
        opened.socket.info = info
        await opened.until("ready> ")
        yield opened


async def ended(terminal_id: str) -> Terminal:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            row = await in_db(Terminal.objects.get, pk=terminal_id)
            if row.status == Terminal.Status.EXITED:
                return row
            await asyncio.sleep(0.05)


async def test_it_is_a_login_shell_in_the_sandbox_of_the_project(
    ann: Person, project: Project
) -> None:
    async with shell(ann) as here:
        assert here.socket.info["args"][-1] == "-l"
        await here.type("pwd; echo $((6 * 7)); ls -A /; echo do''ne\r")
        seen = await here.until("done\r\n")
        assert f"{project.directory}\r\n42\r\n" in seen


async def test_its_size_follows_the_client(ann: Person) -> None:
    async with shell(ann) as here:
        await here.type("stty size\r")
        await here.until("24 80")
        size = {"size": {"rows": 50, "cols": 132}}
        response = await ann.call("put", f"/pty/{here.socket.info['id']}", size)
        assert response.status_code == 200
        # The message overtakes nothing that was typed before it, but keys may overtake it.
        await here.type("until test \"$(stty size)\" = '50 132'; do sleep 0.05; done; echo no''w\r")
        await here.until("now")


async def test_control_c_ends_what_runs_and_not_the_shell(ann: Person) -> None:
    async with shell(ann) as here:
        await here.type("sh -c 'echo going; exec sleep 60'\r")
        await here.until("going; exec")
        await here.until("going\r\n")
        await here.type("\x03")
        await here.until("ready> ")
        await here.type("echo code $?\r")
        await here.until("code 130")


async def test_who_comes_back_gets_what_was_missed_and_goes_on(ann: Person) -> None:
    async with shell(ann) as first:
        terminal_id = first.socket.info["id"]
        await first.type("echo before 🙂\r")
        await first.until("before 🙂\r\n")
        await first.until("ready> ")
        await first.type("sleep 0.2; echo mis''sed\r")
        await first.until("sed\r\n")
    async with attached(terminal_id, ann.headers, query=f"cursor={first.cursor}") as again:
        await again.begun()
        await again.type("echo li''ve\r")
        await again.until("live\r\n")
    async with attached(terminal_id, ann.headers, query="cursor=0") as whole:
        await whole.until("live\r\n")
        await whole.begun()
    assert (first.whole + again.whole).startswith(whole.whole[: len(first.whole)])
    assert "before 🙂\r\n" in whole.whole
    assert whole.whole.startswith((first.whole + again.whole)[: len(whole.whole)])


async def test_minus_one_shows_only_what_follows(ann: Person) -> None:
    async with shell(ann) as first:
        terminal_id = first.socket.info["id"]
        await first.type("echo pa''st\r")
        await first.until("past\r\n")
        await first.until("ready> ")
    async with attached(terminal_id, ann.headers, query="cursor=-1") as late:
        await late.begun()
        assert late.cursor == first.cursor
        await late.type("echo no''w\r")
        await late.until("now\r\n")
        assert "past" not in late.whole


async def test_two_sockets_show_the_same(ann: Person) -> None:
    async with shell(ann) as one, attached(one.socket.info["id"], ann.headers) as two:
        await two.type("echo bo''th\r")
        await one.until("both\r\n")
        await two.until("both\r\n")


async def test_its_end_closes_the_sockets_and_is_written_down(ann: Person) -> None:
    async with shell(ann) as here:
        terminal_id = here.socket.info["id"]
        await here.type("exit 7\r")
        assert await here.closed() == 1000
    response = await ann.call("get", f"/pty/{terminal_id}")
    assert response.json()["status"] == "exited"
    assert response.json()["exitCode"] == 7
    assert (await ann.call("get", "/pty")).json() == []
    with pytest.raises(Refused):
        async with attached(terminal_id, ann.headers):
            pass


async def test_it_is_ended_with_all_it_runs_when_it_is_removed(ann: Person) -> None:
    async with shell(ann) as here:
        await here.type("setsid nohup bash -c 'sleep 60; : gone-with-it' >/dev/null 2>&1 &\r")
        await here.type("echo beg''un\r")
        await here.until("begun")
        await until_marked(True)
        response = await ann.call("delete", f"/pty/{here.socket.info['id']}")
        assert response.json() is True
        await here.closed()
    await until_marked(False)
    assert not await in_db(Terminal.objects.exists)


async def until_marked(is_there: bool) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while bool(marked_processes("gone-with-it")) is not is_there:
            await asyncio.sleep(0.05)


async def test_all_of_a_lot_of_output_arrives(ann: Person) -> None:
    async with shell(ann) as here:
        await here.type("echo; seq 1 30000; echo do''ne\r")
        seen = await here.until("done\r\n")
        numbers = [int(line) for line in seen.split("\r\n") if line.isdecimal()]
        assert numbers == list(range(1, 30_001))


async def test_a_client_that_takes_nothing_holds_up_a_window_and_then_catches_up(
    ann: Person,
) -> None:
    async with shell(ann) as here:
        query = f"cursor={here.cursor}&counts=1"
        async with attached(here.socket.info["id"], ann.headers, query=query) as slow:
            await slow.begun()
            # A window and a half, and what is kept holds both.
            await here.type("head -c 400000 /dev/zero | tr '\\0' x; echo; echo do''ne\r")
            await here.until("done\r\n")
            while len(slow.whole) < quota.WINDOW_UNITS:
                await slow.next()
            before = len(slow.whole)
            assert before < quota.WINDOW_UNITS + 2 * link.PIECE_UNITS
            # Who reads meanwhile is not held up, and it is all that was on its way.
            await here.type("echo mo''re\r")
            await here.until("more\r\n")
            assert await slow.socket.receive_nothing(0.2)
            await slow.took(before)
            while "done\r\n" not in slow.whole:
                size = len(slow.whole)
                await slow.next()
                await slow.took(len(slow.whole) - size)
            assert slow.whole.count("x") == 400_000 + slow.whole.partition("\r\n")[0].count("x")


async def test_a_large_paste_arrives_whole(ann: Person, project: Project) -> None:
    async with shell(ann) as here:
        await here.type("stty raw -echo; echo g''o; head -c 300000 > pasted; echo do''ne\r")
        await here.until("go")
        for _ in range(30):
            await here.type("0123456789" * 1_000)
        await here.until("done")
    assert (Path(project.directory) / "pasted").read_bytes() == b"0123456789" * 30_000


async def test_who_types_more_than_is_taken_is_cut_off(ann: Person) -> None:
    async with shell(ann) as here:
        await here.type("stty raw -echo; echo g''o; sleep 60\r")
        await here.until("go")
        for _ in range(5):
            await here.type("x" * 1_000_000)
        assert await here.closed() == 4009


async def test_lost_keys_and_lost_output_come_again(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "RENEW_S", 0.2)
    sent = link.publish
    lost: dict[str, int] = {}

    def lose(group: str, body: Any) -> None:
        # Every third of a kind.
        kind = str(body["t"])
        lost[kind] = lost.get(kind, 0) + 1
        if kind not in {"out", "type", "taken", "replay"} or lost[kind] % 3:
            sent(group, body)

    async with shell(ann) as here:
        monkeypatch.setattr(link, "publish", lose)
        for number in range(8):
            await here.type(f"echo at{number}''end\r")
            await here.until(f"at{number}end\r\n")
        monkeypatch.setattr(link, "publish", sent)
    assert lost["out"] >= 3
    assert lost["type"] >= 3


@pytest.mark.parametrize("how", ["removed", "viewer", "billing", "token"])
async def test_who_loses_the_right_loses_the_terminal(ann: Person, bill: Person, how: str) -> None:
    def lose(alice: User, bob: User) -> None:
        membership = Membership.objects.get(user=bob, team__slug="acme")
        access = access_team(alice, "acme")
        match how:
            case "removed":
                remove_member(membership, access=access)
            case "viewer" | "billing":
                change_role(membership, access=access, role=Role(how))
            case "token":
                revoke_token(bill.token, actor=bob)

    async with shell(bill) as here:
        terminal_id = here.socket.info["id"]
        await in_db(lose, ann.user, bill.user)
        assert await here.closed() in {4401, 4403, 4404}
    row = await ended(terminal_id)
    assert row.exit_code == 137
    assert "may not use terminals" in row.detail


async def test_who_loses_the_token_loses_the_socket_although_nothing_tells_of_it(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "CHECK_S", 0.1)
    monkeypatch.setattr(tokens, "publish", lambda *_: None)
    async with shell(ann) as here:
        await in_db(revoke_token, ann.token, actor=ann.user)
        assert await here.closed() in {4401}


async def test_one_that_nobody_types_into_is_ended(
    ann: Person, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(serving, "RENEW_S", 0.1)
    async with shell(ann) as here:
        settings.TERMINAL_IDLE_H = 0
        assert await here.closed() == 1000
        assert "typed" in (await ended(here.socket.info["id"])).detail


async def test_one_in_a_worktree_that_goes_is_ended_first(ann: Person, tmp_path: Path) -> None:
    async with shell(ann) as here:
        terminal_id = here.socket.info["id"]
        folder = str(tmp_path / "worktree")
        await in_db(Terminal.objects.filter(pk=terminal_id).update, folder=folder)
        (pid,) = await in_db(end_terminals_in, folder)
        assert await here.closed() == 1000
        row = await ended(terminal_id)
        assert row.detail == "The worktree that it was in is gone."
        async with asyncio.timeout(PATIENCE_S):
            while Path(f"/proc/{pid}").exists():
                await asyncio.sleep(0.05)
        assert await in_db(end_terminals_in, folder) == []


async def test_a_stopping_worker_says_so(ann: Person) -> None:
    async with shell(ann) as here:
        await in_db(end_terminals, PATIENCE_S)
        assert await here.closed() == 1000
        assert "stopped" in (await ended(here.socket.info["id"])).detail
