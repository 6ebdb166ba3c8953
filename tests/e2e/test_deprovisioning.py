"""Who is locked out has nothing left within 5 s, whether the bus tells of it or not."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import psutil
import pytest

from tests.e2e.genuine import Genuine
from tests.e2e.installation import PASSWORD, Installation, installation
from tests.e2e.rest import ask, body, new_session, script, wait_for
from tests.e2e.tmux import screen

pytestmark = [pytest.mark.e2e, pytest.mark.deep]
LIMIT_S = 5.0
PATIENCE_S = 60
RULES = [{"permission": name, "pattern": "*", "action": "allow"} for name in ("bash", "task")]
_BOB = """
from tests.factories import add_member, make_token, make_user
from teams.models import Team, User
team = Team.objects.get(pk={team!r})
bob = make_user({email!r}, password={password!r})
add_member(team, bob)
User.objects.filter(email={operator!r}).update(is_superuser=True)
result = [bob.pk, make_token(bob, team)[1]]
"""
_SCIM = """
from teams.actions.directory import create_directory_token
from teams.models import User
operator = User.objects.get(email={operator!r})
result = create_directory_token(operator, name="test")[1]
"""
_OPEN = """
from sessions.models import Run, Session, Terminal
result = [
    Session.objects.exclude(state="idle").count(),
    Terminal.objects.exclude(status="exited").count(),
]
"""


@pytest.fixture(scope="module")
def mutable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("deprovisioned")) as made:
        made.env["DJANGO_SETTINGS_MODULE"] = "tests.e2e.mute_settings"
        made.start()
        yield made


def sleepers() -> set[str]:
    lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
    return {line for line in lines if line in {"sleep 4751", "sleep 4752", "sleep 4753"}}


def work(bob: httpx.Client) -> None:
    """A turn with a command and a sub-agent that has one, and a schedule."""
    session = new_session(bob)
    assert bob.patch(f"/session/{session}", json={"permission": RULES}).status_code == 200
    slow = {"tool": "bash", "input": {"command": "sleep 4751"}}
    theirs = {"tool": "bash", "input": {"command": "sleep 4752"}}
    given = {"description": "d", "subagent_type": "general", "prompt": script([theirs])}
    text = script([slow, {"tool": "task", "input": given}])
    bob.post(f"/session/{session}/prompt_async", json=body(text))
    plan = {"name": "Nightly", "prompt": "x", "cron": "0 4 * * *"}
    assert bob.post("/schedule", json=plan).status_code == 200


async def closed_after(ended: Awaitable[Any], since: Callable[[], float]) -> float:
    async with asyncio.timeout(PATIENCE_S):
        await ended
    return since()


@pytest.mark.parametrize(
    ("way", "bus"), [("page", "whole"), ("page", "broken"), ("scim", "broken")]
)
def test_a_deactivated_person_has_nothing_left_within_5_s(
    way: str, bus: str, mutable: Installation
) -> None:
    server = mutable
    mute = server.data / "data" / "mute"
    mute.unlink(missing_ok=True)
    server.bootstrap()
    email = f"bob@team-{server.teams}.example.com"
    names = {"team": server.team, "email": email, "operator": server.email}
    bob_id, secret = server.run(_BOB.format(**names, password=PASSWORD))
    cookie = server.sign_in(email)
    bearer = {"Authorization": f"Bearer {secret}"}
    with (
        httpx.Client(base_url=server.url, headers=bearer, timeout=60, verify=False) as bob,
        httpx.Client(base_url=server.url, timeout=60, verify=False) as browser,
    ):
        browser.cookies["sessionid"] = cookie
        assert browser.get("/me/profile").status_code == 200
        work(bob)
        terminal = bob.post("/pty", json={"args": ["--norc", "--noprofile"]}).json()["id"]
        ticket = bob.post(
            f"/pty/{terminal}/connect-token", headers={"x-opencode-ticket": "1"}
        ).json()["ticket"]
        deactivate = by_scim(server, bob_id) if way == "scim" else by_page(server, bob_id)
        silenced = mute if bus == "broken" else None
        took = asyncio.run(lose(server, cookie, secret, terminal, ticket, deactivate, silenced))
        assert {name: s for name, s in took.items() if s > LIMIT_S} == {}
        assert bob.get("/session").status_code == 401
        assert browser.get("/me/profile").status_code == 302
    paused = server.run(
        "from sessions.models import Schedule\n"
        f"result = Schedule.objects.filter(author={bob_id}, paused_at=None).count()"
    )
    assert paused == 0


def by_page(server: Installation, bob_id: int) -> Callable[[], None]:
    def act() -> None:
        with httpx.Client(base_url=server.url, timeout=60, verify=False) as operator:
            operator.cookies["sessionid"] = server.cookie
            assert operator.get(f"/ops/people/{bob_id}").status_code == 200
            headers = {"X-CSRFToken": operator.cookies["csrftoken"]}
            answer = operator.post(
                f"/ops/people/{bob_id}/deactivate", data={"reason": "Left"}, headers=headers
            )
        assert answer.status_code == 302, answer.text

    return act


def by_scim(server: Installation, bob_id: int) -> Callable[[], None]:
    secret = server.run(_SCIM.format(operator=server.email))
    headers = {"Authorization": f"Bearer {secret}"}
    change = {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
        "Operations": [{"op": "replace", "path": "active", "value": False}],
    }

    url = f"{server.url}/scim/v2/Users/{bob_id}"
    # Directories look people up before they change them; the first request of all loads the models.
    assert httpx.get(url, headers=headers, timeout=60).status_code == 200

    def act() -> None:
        answer = httpx.patch(url, json=change, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text

    return act


async def lose(
    server: Installation,
    cookie: str,
    secret: str,
    terminal: str,
    ticket: str,
    deactivate: Callable[[], None],
    mute: Path | None,
) -> dict[str, float]:
    """Returns: how long after the request began each of what was open has ended, in seconds."""
    base, began = server.url.replace("http", "ws", 1), 0.0

    def since() -> float:
        return time.monotonic() - began

    async def socket_end(socket: aiohttp.ClientWebSocketResponse) -> None:
        while not socket.closed:
            await socket.receive()

    async def stream_end(answer: aiohttp.ClientResponse) -> None:
        async for _ in answer.content.iter_any():
            pass

    async def work_end() -> None:
        while sleepers():
            await asyncio.sleep(0.05)

    async with aiohttp.ClientSession() as session:
        origin = {"Origin": server.url}
        live = await session.ws_connect(
            f"{base}/ws/?team={server.team}",
            headers={**origin, "Cookie": f"sessionid={cookie}"},
        )
        await live.receive()
        events = await session.get(
            f"{server.url}/event", headers={"Authorization": f"Bearer {secret}"}
        )
        await events.content.readany()
        shell = await session.ws_connect(f"{base}/pty/{terminal}/connect?ticket={ticket}")
        await shell.send_str("sleep 4753\r")
        async with asyncio.timeout(PATIENCE_S):
            while len(await asyncio.to_thread(sleepers)) < 3:
                await asyncio.sleep(0.1)
        if mute is not None:
            mute.touch()
        waiting = {
            "socket": asyncio.create_task(closed_after(socket_end(live), since)),
            "events": asyncio.create_task(closed_after(stream_end(events), since)),
            "terminal": asyncio.create_task(closed_after(socket_end(shell), since)),
            "processes": asyncio.create_task(closed_after(work_end(), since)),
        }
        # Not at once: each of them is being watched by now.
        await asyncio.sleep(0.5)
        began = time.monotonic()
        await asyncio.to_thread(deactivate)
        took = {name: await task for name, task in waiting.items()}
        await asyncio.to_thread(wait_for, lambda: server.run(_OPEN) == [0, 0], seconds=PATIENCE_S)
        return {**took, "rows": since()}


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_the_genuine_terminal_program_shows_and_does_nothing_more(
    server: Installation, genuine: Genuine, tmp_path: Path
) -> None:
    email = f"bob-tui@team-{server.teams}.example.com"
    names = {"team": server.team, "email": email, "operator": server.email}
    bob_id, secret = server.run(_BOB.format(**names, password=PASSWORD))
    theirs = replace(genuine, home=tmp_path, server=replace(server, email=email, token=secret))
    with (
        server.client() as ada,
        screen(theirs.command("attach"), env=theirs.env, cwd=tmp_path) as shown,
    ):
        session = new_session(ada)
        ask(ada, session, script([{"text": "Before the end."}]))
        shown.wait("Ask anything", "Build")
        shown.act_until(
            lambda: shown.press("C-x", "l"), lambda text: "Sessions" in text or "Today" in text
        )
        shown.press("Enter")
        shown.wait("Before the end.")
        by_page(server, bob_id)()
        ask(ada, session, script([{"text": "Said to those who stay."}]))
        shown.type("Let me in")
        shown.press("Enter")
        shown.wait("Failed to send prompt", "no longer")
        assert "Said to those who stay." not in shown.text
        messages = json.dumps(ada.get(f"/session/{session}/message").json())
        assert "Said to those who stay." in messages
        assert "Let me in" not in messages
