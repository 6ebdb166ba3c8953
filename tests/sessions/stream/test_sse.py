from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.bus import publish
from opencode_web.lib.db import in_db
from sessions.actions.sessions import delete_session, update_session
from sessions.events.live import team_group
from sessions.models import Event, Project, Session
from sessions.stream import hub, rights, sse
from sessions.stream.hub import flushed
from sessions.stream.log import live_team_ids, newest_cursor, read_page
from sessions.stream.sse import Scope, open_stream
from teams.access import ACCESS_CHANGED, access_group, access_team
from teams.actions.members import change_role, remove_member
from teams.actions.tokens import revoke_token
from teams.auth import Principal, authenticate_header, authenticate_user
from teams.browser import BrowserSession
from teams.models import ApiToken, Membership, Role, Team, User
from tests.factories import make_team, make_token
from tests.sessions.factories import make_project, make_session, session_access
from tests.sessions.stream.event_reader import parse, split, stream

pytestmark = pytest.mark.django_db(transaction=True)


# A live message that nobody's stream shows.
BUSY: dict[str, Any] = {"t": "nothing", "session": "ses_x", "project": "prj_x", "team": "team_x"}


async def rename(user: User, session: Session, title: str) -> None:
    access = await in_db(session_access, user, session)
    await in_db(update_session, access, title=title)


@pytest.fixture
def principal(alice: User, session: Session) -> Principal:
    return authenticate_user(alice)


async def test_it_tells_what_happens(
    alice: User, principal: Principal, session: Session, project: Project
) -> None:
    async with stream(principal) as reader:
        await rename(alice, session, "New name")
        frame = await reader.next()
    assert frame.event[0] == "session.updated"
    assert frame.event[1]["info"]["directory"] == project.directory
    assert frame.title == "New name"
    newest = await in_db(Event.objects.latest, "pk")
    assert frame.id == str(newest.pk)


async def test_the_global_stream_wraps_each_event_in_its_place(
    alice: User, principal: Principal, session: Session, project: Project
) -> None:
    async with stream(Scope(principal, is_global=True)) as reader:
        await rename(alice, session, "New name")
        frame = await reader.next()
    assert (frame.data["directory"], frame.data["project"]) == (project.directory, project.pk)
    assert frame.title == "New name"


async def test_it_resumes_without_gap_or_double(
    alice: User, principal: Principal, session: Session
) -> None:
    async with stream(principal) as reader:
        await rename(alice, session, "one")
        assert await reader.titles("one") == ["one"]
    for title in ("two", "three"):
        await rename(alice, session, title)
    async with stream(principal, reader.last_id) as again:
        await rename(alice, session, "four")
        # The session travels as it is when it is sent: three times, whatever it was called then.
        frames = [await again.next() for _ in range(3)]
        assert [frame.event[0] for frame in frames] == ["session.updated"] * 3
        assert frames[-1].title == "four"
        ids = [int(frame.id) for frame in frames]
        assert ids == sorted(set(ids))
        await rename(alice, session, "five")
        assert (await again.next()).title == "five"


async def test_an_event_that_commits_late_is_not_lost(
    alice: User, principal: Principal, session: Session
) -> None:
    async with stream(principal) as reader:
        await rename(alice, session, "early")
        await reader.titles("early")
    newest = int(reader.last_id)
    hidden = Event(pk=newest + 1, session=session, seq=100, type="session.updated", data={})
    hidden.time = (await in_db(Event.objects.latest, "pk")).time
    jump = Event(pk=newest + 2, session=session, seq=101, type="session.updated", data={})
    jump.time = hidden.time
    await in_db(jump.save, force_insert=True)
    async with stream(principal, reader.last_id) as again:
        assert (await again.next()).id == f"{newest + 2}-1"
    await in_db(hidden.save, force_insert=True)
    async with stream(principal, f"{newest + 2}-1") as last:
        assert (await last.next()).id == str(newest + 2)


async def test_without_a_last_id_the_past_is_not_told(
    alice: User, principal: Principal, session: Session
) -> None:
    await rename(alice, session, "past")
    for last in ("", "nonsense", "evt_123"):
        async with stream(principal, last) as reader:
            await rename(alice, session, "now")
            assert await reader.titles("now") == ["now"]


async def test_a_long_absence_is_read_in_pages(
    alice: User, principal: Principal, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.stream.log.PAGE", 3)
    first = await in_db(Event.objects.earliest, "pk")
    for number in range(10):
        await rename(alice, session, f"name {number}")
    async with stream(principal, str(first.pk)) as reader:
        ids = [int((await reader.next()).id) for _ in range(10)]
    assert ids == list(range(first.pk + 1, first.pk + 11))


async def test_it_beats_and_carries_the_cursor_on(
    alice: User, principal: Principal, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.1)
    async with stream(principal) as reader:
        frames = [await reader.next() for _ in range(2)]
    assert [frame.event for frame in frames] == [("server.heartbeat", {})] * 2
    newest = await in_db(Event.objects.latest, "pk")
    assert frames[0].id == str(newest.pk)


async def test_what_the_bus_lost_comes_with_the_next_heartbeat(
    alice: User, principal: Principal, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr("sessions.events.store.publish_events", lambda *args: None)
    async with stream(principal) as reader:
        await rename(alice, session, "unheard")
        assert await reader.titles("unheard") == ["unheard"]


async def test_it_tells_only_what_the_principal_may_see(
    alice: User,
    charlie: User,
    team: Team,
    session: Session,
    project: Project,
    tmp_path: Path,
) -> None:
    def others() -> tuple[Session, Session, Session]:
        globex = make_project(charlie.memberships.get().team, tmp_path / "globex", name="g")
        second = make_project(team, tmp_path / "second", name="second")
        initech = make_team(alice, name="Initech", slug="initech")
        third = make_project(initech, tmp_path / "third", name="third")
        return (
            make_session(charlie, globex),
            make_session(alice, second),
            make_session(alice, third),
        )

    foreign, sibling, elsewhere = await in_db(others)
    token = authenticate_user(alice)
    bound = Principal(alice, team, token.scopes, "token")
    async with (
        stream(Scope(token)) as everything,
        stream(bound) as of_team,
        stream(Scope(token, project_id=project.pk)) as of_project,
    ):
        await rename(charlie, foreign, "foreign")
        await rename(alice, elsewhere, "elsewhere")
        await rename(alice, sibling, "sibling")
        await rename(alice, session, "end")
        assert await everything.titles("end") == ["elsewhere", "sibling", "end"]
        assert await of_team.titles("end") == ["sibling", "end"]
        assert await of_project.titles("end") == ["end"]
    first = await in_db(Event.objects.earliest, "pk")
    async with stream(Scope(token, project_id=project.pk), str(first.pk)) as resumed:
        assert set(await resumed.titles("end")) == {"end"}


async def test_it_ends_when_a_member_is_removed(
    alice: User, bob: User, team: Team, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.1)

    async with stream(authenticate_user(bob)) as reader:
        await in_db(Membership.objects.filter(user=bob).delete)
        await reader.until_end()


async def test_it_ends_when_its_token_is_revoked(
    alice: User, team: Team, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.1)
    token, secret = await in_db(make_token, alice, team)
    principal = await in_db(authenticate_header, f"Bearer {secret}")
    assert principal is not None
    async with stream(principal) as reader:
        assert (await reader.next()).event[0] == "server.heartbeat"
        await in_db(revoke_token, token, actor=alice)
        await reader.until_end()
    assert await in_db(ApiToken.objects.live().count) == 0


async def test_who_is_too_slow_is_cut_off_and_comes_back(
    alice: User, principal: Principal, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "CAPACITY", 2)
    async with stream(principal) as reader:
        await rename(alice, session, "first")
        await reader.titles("first")
        for number in range(6):
            await rename(alice, session, f"name {number}")
        await asyncio.sleep(0.2)
        await reader.until_end()
    async with stream(principal, reader.last_id) as again:
        assert (await again.titles("name 5"))[-1] == "name 5"


async def test_a_deleted_session_says_what_it_was(
    alice: User, principal: Principal, session: Session
) -> None:
    async with stream(principal) as reader:
        access = await in_db(session_access, alice, session)
        await in_db(delete_session, access)
        kind, properties = (await reader.next()).event
    assert kind == "session.deleted"
    assert properties["sessionID"] == properties["info"]["id"] == session.pk


async def test_flushed_waits_until_the_stream_has_sent_it(
    alice: User, principal: Principal, session: Session, team: Team
) -> None:
    sent: list[str] = []
    frames = await open_stream(Scope(principal))

    async def client() -> None:
        async for written in frames:
            await asyncio.sleep(0.05)
            sent.extend(parse(raw).title for raw in split(written))

    task = asyncio.create_task(client())
    while not sent:
        await asyncio.sleep(0.01)
    await rename(alice, session, "told")
    await flushed(f"team.{team.pk}")
    assert sent[-1] == "told"
    task.cancel()
    await asyncio.wait({task})
    await frames.aclose()  # type: ignore[attr-defined]


async def test_a_removed_member_loses_the_stream_at_once(
    alice: User, bob: User, team: Team, session: Session
) -> None:
    async with stream(authenticate_user(bob)) as reader:
        access = await in_db(access_team, alice, team.slug)
        member = await in_db(Membership.objects.get, user=bob)
        await in_db(remove_member, member, access=access)
        await reader.until_end()


async def test_who_is_made_billing_loses_the_stream_at_once_and_gets_an_empty_one(
    alice: User, bob: User, team: Team, session: Session
) -> None:
    cursor = await in_db(newest_cursor)
    async with stream(authenticate_user(bob)) as reader:
        access = await in_db(access_team, alice, team.slug)
        member = await in_db(Membership.objects.get, user=bob)
        await in_db(change_role, member, access=access, role=Role.BILLING)
        await reader.until_end()
    await rename(alice, session, "unseen")
    assert await in_db(live_team_ids, authenticate_user(bob)) == frozenset()
    page = await in_db(read_page, cursor, authenticate_user(bob), None)
    assert page.bodies == []
    assert len((await in_db(read_page, cursor, authenticate_user(alice), None)).bodies) == 1


async def test_what_comes_right_after_a_change_of_rights_is_not_lost(
    alice: User, principal: Principal, session: Session, team: Team
) -> None:
    async with stream(principal) as reader:
        publish(team_group(team.pk), BUSY)
        publish(access_group(team.pk), {"t": ACCESS_CHANGED})
        await rename(alice, session, "told")
        assert await reader.titles("told") == ["told"]


async def test_rights_are_looked_at_again_however_much_goes_on(
    alice: User,
    bob: User,
    team: Team,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rights, "CHECK_S", 0.1)
    async with stream(authenticate_user(bob)) as reader:
        await in_db(Membership.objects.filter(user=bob).delete)

        async def talk() -> None:
            while True:
                publish(team_group(team.pk), BUSY)
                await asyncio.sleep(0)

        talking = asyncio.create_task(talk())
        try:
            await reader.until_end()
        finally:
            talking.cancel()
            await asyncio.wait({talking})


async def test_a_revoked_token_ends_the_stream_at_once(
    alice: User, team: Team, session: Session
) -> None:
    token, secret = await in_db(make_token, alice, team)
    principal = await in_db(authenticate_header, f"Bearer {secret}")
    assert principal is not None
    async with stream(principal) as reader:
        await in_db(revoke_token, token, actor=alice)
        await reader.until_end()


async def test_an_expired_token_ends_the_stream_between_two_heartbeats(
    alice: User, team: Team, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "CHECK_S", 0.1)
    token, secret = await in_db(make_token, alice, team)
    principal = await in_db(authenticate_header, f"Bearer {secret}")
    assert principal is not None
    async with stream(principal) as reader:
        past = timezone.now() - timedelta(seconds=1)
        await in_db(ApiToken.objects.filter(pk=token.pk).update, expires_at=past)
        await reader.until_end()


async def test_a_signed_out_browser_loses_its_stream(
    alice: User, session: Session, client_for: Callable[[User], Client]
) -> None:
    browser = await in_db(client_for, alice)
    key = browser.cookies["sessionid"].value
    principal = authenticate_user(alice, browser=BrowserSession(key))
    async with stream(principal) as reader:
        assert (await in_db(browser.post, "/logout")).status_code == 302
        await reader.until_end()
