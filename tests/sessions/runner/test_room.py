from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone

from opencode_web.lib.db import in_db
from providers import actions
from providers.models import Credential, KeyUse, ProviderConfig
from sessions.models import Event, Project, Session
from sessions.runner import run_session
from sessions.wire import status_to_wire
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.models import Reservation, Team, User
from tests.providers.servers import OpenAIServer, Reply
from tests.sessions.factories import make_project, make_session
from tests.sessions.runner.drains import drain, is_runnable, parts_of, stop, until
from tests.sessions.runner.test_fallback import Serve, ask, texts
from tests.sessions.runner.test_fallback import serve as serve

SLOW = Reply(text="Done.", chunk_delay_s=0.4, chunk_chars=1)
QUICK = Reply(text="Done.")


def limit(name: str = "one", **limits: int) -> None:
    row = ProviderConfig.objects.get(provider_id=name)
    key = row.credentials.get()
    actions.limit_key(row, key.pk, actor=None, **limits)


def busy(server: OpenAIServer) -> int:
    return sum(1 for use in KeyUse.objects.all() if use.started_at and not use.ended_at)


async def test_a_turn_waits_for_room_and_is_woken_when_there_is_some(
    alice: User, project: Project, serve: Serve
) -> None:
    server = await in_db(serve, "one", SLOW, QUICK)
    await in_db(limit, max_calls=1)
    first, second = [await in_db(make_session, alice, project) for _ in range(2)]
    for session in (first, second):
        await in_db(ask, alice, session)
    running = asyncio.create_task(run_session(first.pk))
    await until(lambda: busy(server) == 1)
    await drain(second)
    assert (second.state, second.waits_for) == ("busy", "room")
    assert second.outcome_detail == "Waiting for room at One"
    wire = await in_db(status_to_wire, second)
    assert wire["type"] == "retry"
    assert wire["message"] == "Waiting for room at One"
    assert not await in_db(is_runnable, second)
    assert len(server.requests) == 1
    await running
    await drain(second)
    assert await in_db(texts, second) == ["Done."]
    assert len(server.requests) == 2
    assert await in_db(busy, server) == 0


async def test_looking_again_says_nothing_new(alice: User, project: Project, serve: Serve) -> None:
    server = await in_db(serve, "one", SLOW)
    await in_db(limit, max_calls=1)
    first, second = [await in_db(make_session, alice, project) for _ in range(2)]
    for session in (first, second):
        await in_db(ask, alice, session)
    running = asyncio.create_task(run_session(first.pk))
    await until(lambda: busy(server) == 1)
    await drain(second)
    seq = second.seq
    for _ in range(3):
        await drain(second)
    assert second.seq == seq
    assert await in_db(KeyUse.objects.filter(started_at=None).count) == 1
    await running


async def test_a_turn_that_is_stopped_leaves_the_line(
    alice: User, project: Project, serve: Serve
) -> None:
    server = await in_db(serve, "one", SLOW)
    await in_db(limit, max_calls=1)
    first, second = [await in_db(make_session, alice, project) for _ in range(2)]
    for session in (first, second):
        await in_db(ask, alice, session)
    running = asyncio.create_task(run_session(first.pk))
    await until(lambda: busy(server) == 1)
    await drain(second)
    await stop(alice, second)
    await drain(second)
    assert (second.state, second.outcome) == ("idle", "stopped")
    assert not await in_db(KeyUse.objects.filter(started_at=None).exists)
    await running


async def test_a_stopped_call_gives_its_place_back(
    alice: User, session: Session, serve: Serve
) -> None:
    server = await in_db(serve, "one", Reply(text="x" * 400, chunk_delay_s=0.2, chunk_chars=1))
    await in_db(limit, max_calls=1)
    await in_db(ask, alice, session)
    running = asyncio.create_task(run_session(session.pk))
    await until(lambda: busy(server) == 1)
    await asyncio.to_thread(server.streaming.wait, 10)
    await stop(alice, session)
    await running
    assert await in_db(busy, server) == 0


async def test_a_call_that_fails_gives_its_place_back(
    alice: User, session: Session, serve: Serve
) -> None:
    server = await in_db(serve, "one", Reply(status=401, error={"error": {"message": "No."}}))
    await in_db(limit, max_calls=1)
    await in_db(ask, alice, session)
    await drain(session)
    assert session.outcome == "failed"
    assert await in_db(busy, server) == 0


async def test_the_place_of_a_killed_worker_is_free_after_a_while(
    alice: User, session: Session, serve: Serve
) -> None:
    await in_db(serve, "one", QUICK)
    await in_db(limit, max_calls=1)

    def die() -> None:
        row = ProviderConfig.objects.get(provider_id="one")
        gone = timezone.now() - timedelta(seconds=1)
        KeyUse.objects.create(
            account=row,
            credential=row.credential,
            call="ses_dead",
            started_at=gone,
            alive_until=gone,
        )

    await in_db(die)
    await in_db(ask, alice, session)
    await drain(session)
    assert await in_db(texts, session) == ["Done."]


async def test_the_place_that_a_turns_own_dead_worker_held_is_the_turns(
    alice: User, session: Session, serve: Serve
) -> None:
    await in_db(serve, "one", QUICK)
    await in_db(limit, max_calls=1)

    def die() -> None:
        row, now = ProviderConfig.objects.get(provider_id="one"), timezone.now()
        KeyUse.objects.create(
            account=row,
            credential=row.credential,
            call=session.pk,
            started_at=now,
            alive_until=now + timedelta(seconds=50),
        )

    await in_db(die)
    await in_db(ask, alice, session)
    await drain(session)
    assert await in_db(texts, session) == ["Done."]


async def test_tokens_within_a_minute_are_those_that_the_provider_has_counted(
    alice: User, project: Project, serve: Serve
) -> None:
    server = await in_db(serve, "one", Reply(text="Done.", input_tokens=70_000, output_tokens=5))
    await in_db(limit, tokens_per_minute=70_000)
    first, second = [await in_db(make_session, alice, project) for _ in range(2)]
    for session in (first, second):
        await in_db(ask, alice, session)
        await drain(session)
    assert first.outcome == "done"
    assert second.waits_for == "room"
    assert len(server.requests) == 1

    def later() -> None:
        KeyUse.objects.exclude(started_at=None).update(
            started_at=timezone.now() - timedelta(seconds=61)
        )

    await in_db(later)
    await drain(second)
    assert second.outcome == "done"


async def test_who_waits_for_room_holds_nothing_of_a_budget(
    alice: User, project: Project, serve: Serve
) -> None:
    server = await in_db(serve, "one", SLOW, cost=1)
    await in_db(limit, max_calls=1)
    access = await in_db(access_team, alice, "acme")

    def budget() -> None:
        change_budgets(access, team=Decimal(100), each=None, members={})

    await in_db(budget)
    first, second = [await in_db(make_session, alice, project) for _ in range(2)]
    for session in (first, second):
        await in_db(ask, alice, session)
    running = asyncio.create_task(run_session(first.pk))
    await until(lambda: busy(server) == 1)
    await drain(second)
    assert second.waits_for == "room"
    held = await in_db(lambda: [row.pk for row in Reservation.objects.all()])
    assert held == [first.pk]
    await running


async def test_many_turns_of_two_teams_at_once_never_use_a_key_of_the_instance_more_than_it_may(
    alice: User, team: Team, tmp_path: Path, serve: Serve
) -> None:
    now, most = [0], [0]

    def answer(_: Any) -> Reply:
        return Reply(text="Done.", chunk_delay_s=0.05)

    await in_db(serve, "one", QUICK)
    server = OpenAIServer(answer)

    def share(base_url: str) -> list[Session]:
        ProviderConfig.objects.all().update(team=None, base_url=base_url)
        limit(max_calls=2)
        other = Team.objects.create(name="Other", slug="other", id="team_other")
        other.memberships.create(user=alice, role="owner")
        projects = [
            make_project(one, tmp_path / one.slug, name=one.slug, git=False)
            for one in (team, other)
        ]
        sessions = [make_session(alice, projects[n % 2]) for n in range(8)]
        for session in sessions:
            ask(alice, session)
        return sessions

    def count() -> bool:
        now[0] = busy(server)
        most[0] = max(most[0], now[0])
        return not Session.objects.exclude(state="idle").exists()

    with server:
        sessions = await in_db(share, server.base_url)
        # What rings in a server is the queue: here each is taken up until it is through.
        while await in_db(Session.objects.exclude(state="idle").exists):
            watch = asyncio.create_task(until(count))
            await asyncio.gather(*(run_session(session.pk) for session in sessions))
            watch.cancel()
    assert most[0] == 2
    assert len(server.requests) == 8
    for session in sessions:
        assert await in_db(texts, session) == ["Done."]


async def test_several_keys_take_turns(alice: User, session: Session, serve: Serve) -> None:
    server = await in_db(serve, "one", QUICK)

    def more() -> None:
        row = ProviderConfig.objects.get(provider_id="one")
        actions.add_key(row, actor=None, key="key-two", label="Second")

    await in_db(more)
    for number in range(4):
        await in_db(ask, alice, session, f"Prompt {number}")
        await drain(session)
    used = [request.headers["authorization"] for request in server.requests]
    assert used == ["Bearer key-one", "Bearer key-two"] * 2
    assert not await in_db(KeyUse.objects.exists)


async def test_a_key_that_is_refused_is_left_alone_and_the_turn_goes_on_with_another(
    alice: User, session: Session, serve: Serve
) -> None:
    refused = Reply(status=429, error={"error": {"message": "Slow down."}})
    server = await in_db(serve, "one", refused, QUICK)

    def more() -> None:
        row = ProviderConfig.objects.get(provider_id="one")
        actions.add_key(row, actor=None, key="key-two")

    await in_db(more)
    for text in ("Hello", "And now?"):
        await in_db(ask, alice, session, text)
        await drain(session)
    used = [request.headers["authorization"] for request in server.requests]
    assert used == ["Bearer key-one", "Bearer key-two", "Bearer key-two"]
    assert session.outcome == "done"
    (part,) = await in_db(parts_of, session, "retry")
    assert part["error"]["data"]["message"] == "Slow down."
    first = await in_db(Credential.objects.earliest, "pk")
    assert first.failure == "RateLimited"


async def test_the_browser_says_what_is_waited_for(
    alice: User, project: Project, serve: Serve, client: Client
) -> None:
    server = await in_db(serve, "one", SLOW)
    await in_db(limit, max_calls=1)
    first, second = [await in_db(make_session, alice, project) for _ in range(2)]
    for session in (first, second):
        await in_db(ask, alice, session)
    running = asyncio.create_task(run_session(first.pk))
    await until(lambda: busy(server) == 1)
    await drain(second)

    def page() -> str:
        client.force_login(alice)
        return client.get(f"/t/acme/s/{second.pk}").content.decode()

    assert "Waiting for room at One" in await in_db(page)
    await running
    assert await in_db(Event.objects.filter(session=second, type="session.error").count) == 0
