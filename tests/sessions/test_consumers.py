from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from autobahn.exception import Disconnected
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections
from django.test import Client

from opencode_web.lib.build import build_id
from opencode_web.lib.bus import publish
from opencode_web.lib.db import in_db
from sessions.consumers import live, websocket_application
from sessions.events.live import rail_group
from sessions.models import Project, Session
from sessions.stream import browser as browsers
from sessions.stream import listener, rights
from teams.access import access_team
from teams.actions.members import change_role, remove_member
from teams.actions.users import change_password
from teams.models import Membership, Role, User
from tests.sessions.factories import make_session
from tests.sessions.story import Story, tell_whole_turn

pytestmark = pytest.mark.django_db(transaction=True)
ORIGIN = "http://localhost"


@pytest.fixture(autouse=True)
async def close_the_connection_of_the_session_middleware() -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


def cookie_of(user: User | None) -> str:
    client = Client()
    if user is not None:
        client.force_login(user)
    morsel = client.cookies.get(settings.SESSION_COOKIE_NAME)
    return f"{settings.SESSION_COOKIE_NAME}={morsel.value}" if morsel else ""


@asynccontextmanager
async def socket(
    user: User | None, query: str, *, origin: str = ORIGIN
) -> AsyncIterator[WebsocketCommunicator]:
    headers = [
        (b"host", b"localhost"),
        (b"origin", origin.encode()),
        (b"cookie", (await in_db(cookie_of, user)).encode()),
    ]
    communicator = WebsocketCommunicator(websocket_application, f"/ws/?{query}", headers)
    connected, _ = await communicator.connect()
    assert connected
    try:
        yield communicator
    finally:
        if not communicator.future.done():
            await communicator.disconnect()


async def close_code(communicator: WebsocketCommunicator) -> int:
    while True:
        message = await communicator.receive_output(5)
        if message["type"] == "websocket.close":
            return int(message["code"])


async def frames_until(
    communicator: WebsocketCommunicator, is_last: Callable[[dict[str, Any]], bool]
) -> list[dict[str, Any]]:
    frames = []
    while not frames or not is_last(frames[-1]):
        frames.append(json.loads(await communicator.receive_from(5)))
    return frames


async def test_it_replays_what_was_missed_and_goes_on_live_without_gap_or_double(
    session: Session, alice: User
) -> None:
    await in_db(session.refresh_from_db)
    after = session.seq
    story = Story(session, alice)
    await in_db(story.ask, "before the socket")
    async with socket(alice, f"session={session.pk}&after={after}") as browser:
        missed = await frames_until(browser, lambda frame: "q" in frame)
        assert missed[-1]["p"] == after
        await in_db(tell_whole_turn, session, alice)
        await in_db(session.refresh_from_db)
        live = await frames_until(browser, lambda frame: frame.get("q") == session.seq)
    numbered = [frame for frame in (*missed, *live) if "q" in frame]
    assert [frame["p"] for frame in numbered] == [after, *(f["q"] for f in numbered[:-1])]


async def test_the_list_of_sessions_is_pushed_to_every_page_of_the_team(
    session: Session, alice: User, bob: User
) -> None:
    async with socket(bob, "team=acme") as browser:
        await in_db(Story(session, alice).ask, "hello")
        frames = await frames_until(
            browser, lambda f: f["k"] == "u" and f["rows"][0]["group"] == "run"
        )
    [row] = frames[-1]["rows"]
    assert row["row"] == session.pk
    assert [op[0] for op in row["ops"]] == [f"#row-{session.pk}", f"#card-{session.pk}"]


async def test_sessions_that_change_together_are_pushed_together(
    session: Session, project: Project, alice: User, bob: User
) -> None:
    await in_db(lambda: session.project.team)
    async with socket(bob, "team=acme") as browser:
        await frames_until(browser, lambda frame: frame["k"] == "hi")
        others = [await in_db(make_session, alice, project) for _ in range(3)]
        wanted = {session.pk, *(other.pk for other in others)}
        # What comes while the first is drawn waits for the next frame.
        for pk in (session.pk, *sorted(wanted)):
            publish(rail_group(session.project.team_id), {"t": "session", "session": pk})
        seen: set[str] = set()

        def is_last(frame: dict[str, Any]) -> bool:
            seen.update(row["row"] for row in frame.get("rows", []))
            return seen >= wanted

        frames = await frames_until(browser, is_last)
    # Those of the page's opening, of the first change, and of what came meanwhile.
    assert sum(frame["k"] == "u" for frame in frames) <= 3


@pytest.mark.parametrize(("who", "code"), [("charlie", 4403), (None, 4401)])
async def test_it_refuses_who_may_not_see_the_session(
    session: Session,
    alice: User,
    charlie: User,
    who: str | None,
    code: int,
) -> None:
    user = charlie if who else None
    async with socket(user, f"session={session.pk}&after=0") as browser:
        assert await close_code(browser) == code
    async with socket(user, "team=acme") as browser:
        assert await close_code(browser) == code


@pytest.mark.parametrize("origin", ["http://evil.example", "", "null", "http://localhost.evil"])
async def test_it_refuses_pages_of_other_origins(
    session: Session, alice: User, origin: str
) -> None:
    async with socket(alice, f"session={session.pk}&after=0", origin=origin) as browser:
        assert await close_code(browser) == 4403


@pytest.mark.parametrize("shown", ["", "session={session}&after=0&"])
@pytest.mark.parametrize("how", ["removed", "billing"])
async def test_who_sees_the_work_no_longer_is_cut_off_at_once(
    session: Session, alice: User, bob: User, how: str, shown: str
) -> None:
    query = shown.format(session=session.pk)
    async with socket(bob, f"{query}team=acme") as browser:
        await frames_until(browser, lambda frame: frame["k"] == "hi")
        await in_db(remove_bob if how == "removed" else make_bob_billing, alice, bob)
        assert await close_code(browser) == 4403
    async with socket(bob, f"{query}team=acme") as browser:
        assert await close_code(browser) == 4403


def remove_bob(alice: User, bob: User) -> None:
    membership = Membership.objects.get(user=bob, team__slug="acme")
    remove_member(membership, access=access_team(alice, "acme"))


async def test_a_changed_role_is_told_and_reading_goes_on(
    session: Session, alice: User, bob: User
) -> None:
    async with socket(bob, f"session={session.pk}&after=0") as browser:
        frames = await frames_until(browser, lambda frame: frame["k"] == "hi")
        assert frames[-1].items() >= {"build": build_id(), "role": "member"}.items()
        await in_db(make_bob_viewer, alice, bob)
        frames = await frames_until(browser, lambda frame: frame["k"] == "role")
        assert frames[-1]["role"] == "viewer"
        await in_db(Story(session, alice).ask, "still here?")
        await in_db(session.refresh_from_db)
        await frames_until(browser, lambda frame: frame.get("q") == session.seq)


def make_bob_viewer(alice: User, bob: User) -> None:
    _give_bob(alice, bob, Role.VIEWER)


def make_bob_billing(alice: User, bob: User) -> None:
    _give_bob(alice, bob, Role.BILLING)


def _give_bob(alice: User, bob: User, role: Role) -> None:
    membership = Membership.objects.get(user=bob, team__slug="acme")
    change_role(membership, access=access_team(alice, "acme"), role=role)


async def test_a_session_that_is_gone_is_told_from_one_that_may_not_be_seen(
    session: Session, alice: User, charlie: User
) -> None:
    await in_db(session.delete)
    for user, code in ((alice, 4404), (charlie, 4403)):
        async with socket(user, f"team=acme&session={session.pk}&after=0") as browser:
            assert await close_code(browser) == code


async def test_a_deactivated_person_is_cut_off_at_the_next_look(
    session: Session, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "CHECK_S", 0.1)
    async with socket(bob, f"session={session.pk}&after=0") as browser:
        await frames_until(browser, lambda frame: "q" in frame)
        bob.is_active = False
        await in_db(bob.save)
        assert await close_code(browser) == 4401


async def test_a_quiet_socket_hears_that_it_is_alive(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsers, "HEARTBEAT_S", 0.05)
    async with socket(alice, "team=acme") as browser:
        await browser.receive_from(5)
        frames = await frames_until(browser, lambda frame: frame["k"] == "hb")
        assert (await frames_until(browser, lambda frame: True))[0]["k"] == "hb"
    assert frames


async def test_a_browser_that_takes_nothing_is_told_to_read_its_page_again(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "WINDOW_FRAMES", 4)
    monkeypatch.setattr(listener, "CAPACITY", 4)
    story = Story(session, alice)
    async with socket(alice, f"session={session.pk}&after=0") as browser:
        await frames_until(browser, lambda frame: "q" in frame)
        for number in range(20):
            await in_db(story.ask, f"prompt {number}")
            await asyncio.sleep(0.02)
        await browser.send_to("20")
        frames = await frames_until(browser, lambda frame: frame["k"] == "reset")
    assert len(frames) < 20


async def test_a_browser_that_goes_away_while_it_is_sent_something_is_no_fault(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sent = asyncio.Event()

    async def send(self: live.LiveConsumer, text_data: str) -> None:
        sent.set()
        raise Disconnected("Attempt to send on a closed protocol")

    monkeypatch.setattr(live.LiveConsumer, "send", send)
    async with socket(alice, f"session={session.pk}&after=0") as browser:
        await asyncio.wait_for(sent.wait(), 5)
        assert await browser.receive_nothing(0.2)
    assert "live.failed" not in caplog.text


async def test_a_stopping_server_tells_browsers_to_come_back(session: Session, alice: User) -> None:
    async with socket(alice, f"session={session.pk}&after=0") as browser:
        await frames_until(browser, lambda frame: "q" in frame)
        browser.future.cancel()
        await asyncio.wait({browser.future}, timeout=5)
        last = None
        while not browser.output_queue.empty():
            last = browser.output_queue.get_nowait()
    assert last == {"type": "websocket.close", "code": 4012}


@asynccontextmanager
async def socket_of(client: Client, query: str) -> AsyncIterator[WebsocketCommunicator]:
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    headers = [
        (b"host", b"localhost"),
        (b"origin", ORIGIN.encode()),
        (b"cookie", cookie.encode()),
    ]
    communicator = WebsocketCommunicator(websocket_application, f"/ws/?{query}", headers)
    assert (await communicator.connect())[0]
    try:
        await frames_until(communicator, lambda frame: frame["k"] == "hi")
        yield communicator
    finally:
        if not communicator.future.done():
            await communicator.disconnect()


async def test_sign_out_closes_the_sockets_of_that_browser_only(
    session: Session, alice: User, client_for: Callable[[User], Client]
) -> None:
    one, two = await in_db(client_for, alice), await in_db(client_for, alice)
    async with (
        socket_of(one, f"session={session.pk}&after=0") as first,
        socket_of(two, f"session={session.pk}&after=0") as second,
    ):
        assert (await in_db(one.post, "/logout")).status_code == 302
        assert await close_code(first) == 4401
        await in_db(Story(session, alice).ask, "still here")
        await frames_until(second, lambda frame: "q" in frame)


async def test_a_new_password_closes_the_sockets_of_other_browsers(
    session: Session, alice: User, client_for: Callable[[User], Client]
) -> None:
    browser = await in_db(client_for, alice)
    async with socket_of(browser, f"session={session.pk}&after=0") as socket_:
        await in_db(change_password, alice, password="another-long-phrase")
        assert await close_code(socket_) == 4401


async def test_a_browser_that_is_signed_out_from_another_loses_its_sockets(
    session: Session, alice: User, client_for: Callable[[User], Client]
) -> None:
    away, here = await in_db(client_for, alice), await in_db(client_for, alice)
    for client in (away, here):
        await in_db(client.get, "/me/devices")
    async with (
        socket_of(away, f"session={session.pk}&after=0") as closed,
        socket_of(here, f"session={session.pk}&after=0") as kept,
    ):
        await in_db(here.post, "/me/devices/others")
        assert await close_code(closed) == 4401
        await in_db(Story(session, alice).ask, "still here")
        await frames_until(kept, lambda frame: "q" in frame)


async def test_an_ended_browser_session_is_noticed_without_a_message(
    session: Session,
    alice: User,
    client_for: Callable[[User], Client],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rights, "CHECK_S", 0.1)
    browser = await in_db(client_for, alice)
    async with socket_of(browser, "team=acme") as socket_:
        await in_db(browser.session.flush)
        assert await close_code(socket_) == 4401
