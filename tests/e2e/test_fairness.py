from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.browser import PROGRAM, chromium, signed_in_as, watched
from tests.e2e.installation import Installation, installation
from tests.e2e.rest import body, new_session, script, text_of, wait_for
from tests.e2e.test_room import shoot

pytestmark = [pytest.mark.e2e, pytest.mark.deep]

PLACES = 2
MANY = 500
TURN = script([{"delay_ms": 1500}, {"text": "Done."}])
LONG = script([{"text": "Working"}, {"delay_ms": 600_000}])
# How many turns of others began between the admission of a prompt and its own turn.
_PASSED = """
from sessions.models import Run, SessionInput
admitted = SessionInput.objects.get(session={session!r}).created_at
run = Run.objects.get(session={session!r})
others = Run.objects.filter(taken_at__gt=admitted, taken_at__lt=run.taken_at)
result = run.taken_at and [others.count(), (run.taken_at - admitted).total_seconds()]
"""
_WAITING = """
from sessions.models import Run
result = Run.objects.filter(taken_at=None).count()
"""
_HOLD = """
import asyncio, threading, time
from sessions.runner.log.lease import acquire_lease, renew_lease
from sessions.sandboxes.places import TeamPlaces
lease = acquire_lease({session!r})
def keep():
    while renew_lease(lease) is not None:
        time.sleep(1)
threading.Thread(target=keep, daemon=True).start()
held = TeamPlaces({session!r}, {team!r}, 1).hold()
asyncio.new_event_loop().run_until_complete(held.__aenter__())
"""
_COMMANDS = """
from sessions.models import RunningCommand
result = RunningCommand.objects.count()
"""
_LIMIT = """
from teams.models import Team, User
Team.objects.filter(pk={team!r}).update({limit}=1)
User.objects.filter(email={email!r}).update(is_superuser=True, is_staff=True)
"""


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Installation]:
    with installation(tmp_path) as server:
        server.workers = 2
        server.env["WORKER_CONCURRENCY"] = str(PLACES)
        server.start()
        server.bootstrap()
        yield server


def queue(client: httpx.Client, text: str) -> str:
    session = new_session(client)
    assert client.post(f"/session/{session}/prompt_async", json=body(text)).status_code == 204
    return session


def test_five_hundred_sessions_of_a_team_delay_another_by_one_turn(narrow: Installation) -> None:
    places = PLACES * (1 if narrow.is_embedded else narrow.workers)
    with narrow.client() as client:
        for _ in range(MANY):
            queue(client, TURN)
        waiting = narrow.run(_WAITING)
        assert waiting > MANY / 2
        narrow.bootstrap()
    with narrow.client() as client:
        for _ in range(3):
            session = queue(client, TURN)
            wait_for(lambda one=session: client.get(f"/session/{one}/message").json()[1:])
            passed, delay_s = narrow.run(_PASSED.format(session=session))
            # Each place may have been given away at the moment of its admission.
            assert passed <= places, f"{passed} turns began before it within {delay_s:.2f} s"
    # The line goes on, and nobody of it is lost.
    assert narrow.run(_WAITING) < waiting


def test_a_command_waits_for_one_of_another_process_until_that_is_killed(
    narrow: Installation,
) -> None:
    narrow.run(_LIMIT.format(team=narrow.team, limit="max_commands", email=narrow.email))
    with narrow.client() as client, ExitStack() as ended:
        narrow.run(_HOLD.format(session=new_session(client), team=narrow.team))
        assert narrow.python is not None
        holder, narrow.python = narrow.python, None
        ended.callback(holder.communicate)
        ended.callback(holder.kill)
        call = {"tool": "bash", "input": {"command": "echo free"}}
        session = queue(client, script([call], [{"text": "Done."}]))
        request = wait_for(lambda: client.get("/permission").json())[0]
        client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})
        wait_for(lambda: narrow.run(_COMMANDS) == 2)
        messages = f"/session/{session}/message"
        (call,) = client.get(messages).json()[1]["parts"][-1:]
        assert call["state"]["status"] == "running"
        ended.close()
        assert wait_for(lambda: text_of(client.get(messages).json()[-1])) == "Done."


@pytest.mark.skipif(not PROGRAM, reason="chromium is not installed")
def test_members_see_why_they_wait(narrow: Installation, tmp_path: Path) -> None:
    with (
        narrow.client() as client,
        chromium() as browser,
        signed_in_as(browser, narrow, narrow.email) as context,
        watched(context, console=True) as page,
    ):
        narrow.run(_LIMIT.format(team=narrow.team, limit="max_turns", email=narrow.email))
        first = queue(client, LONG)
        wait_for(lambda: client.get(f"/session/{first}/message").json()[1:])
        second, third = (queue(client, LONG) for _ in range(2))
        page.goto(f"{narrow.url}/t/till-team/s/{third}")
        status = page.locator("#session-header .status")
        expect(status).to_contain_text("Queued, 2nd in your team: 1 turn running", timeout=30_000)
        expect(page.locator(f"#row-{second}")).to_contain_text("Queued, next in your team")
        shoot(page, tmp_path, "waiting")
        page.goto(f"{narrow.url}/ops/limits")
        expect(page.locator("main")).to_contain_text("1 of 1 running")
        shoot(page, tmp_path, "limits")
        page.get_by_role("link", name="Change").first.click()
        shoot(page, tmp_path, "limit")
        page.get_by_label("Turns").fill("2")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("main")).to_contain_text("of 2 running")
        page.goto(f"{narrow.url}/t/till-team/s/{third}")
        expect(status).to_contain_text("Queued, next in your team: 2 turns running", timeout=30_000)
        client.post(f"/session/{first}/abort")
        expect(status).to_contain_text("Running", timeout=30_000)
