from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.events.store import append, lock_session
from sessions.events.types import SessionStatus
from sessions.models import Message, Project, Run, Session, State
from sessions.runner import run_session
from sessions.runner.drain.admission import take_up
from sessions.runner.log.lease import runnable_sessions
from sessions.wire import to_ms
from teams.models import Team, User
from tests.factories import make_team
from tests.sessions.factories import make_project, make_session, prompt, script
from tests.sessions.runner.drains import stop, until
from tests.sessions.runner.test_two_at_once import behind

Ask = Callable[[User, Project], Session]

QUICK = script([{"delay_ms": 60}, {"text": "Done."}])
SLOW = script([{"text": "Working"}, {"delay_ms": 600_000}])


class Queue:
    """The broker's: what is rung for goes to whoever of the workers is free, in that order."""

    def __init__(self) -> None:
        self.rings: list[str] = []
        self.is_closed = False
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str] = asyncio.Queue()

    def send(self, task: str, *arguments: Any, **_: object) -> None:
        if task == "sessions.run":
            self.rings.append(arguments[0])
            self._loop.call_soon_threadsafe(self._queue.put_nowait, arguments[0])

    async def work(self) -> None:
        while not self.is_closed:
            await run_session(await self._queue.get())


@asynccontextmanager
async def workers(places: int, queue: Queue) -> AsyncIterator[None]:
    at_work = [asyncio.create_task(queue.work()) for _ in range(places)]
    try:
        yield
    finally:
        queue.is_closed = True
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)


@pytest.fixture
async def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    made = Queue()
    monkeypatch.setattr("sessions.wake._send", made.send)
    return made


@pytest.fixture
def theirs(charlie: User, tmp_path: Path) -> Project:
    return make_project(make_team(charlie, name="Initech", slug="initech"), tmp_path / "other")


def ask(user: User, project: Project, text: str = QUICK) -> Session:
    session = make_session(user, project)
    prompt(user, session, text)
    return session


def order() -> list[str]:
    """Who asked, in the order in which their turns began."""
    rows = Run.objects.exclude(taken_at=None).order_by("taken_at")
    return list(rows.values_list("person__name", flat=True))


def are_done() -> bool:
    return not Session.objects.exclude(state=State.IDLE).exists()


async def test_a_team_with_many_sessions_delays_another_by_one_turn(
    alice: User, bob: User, charlie: User, project: Project, theirs: Project, settings: Any,
    queue: Queue,
) -> None:  # fmt: skip
    settings.WORKER_CONCURRENCY = settings.CELERY_WORKER_CONCURRENCY = 2
    for user in (alice,) * 12 + (bob, charlie):
        await in_db(ask, user, project if user != charlie else theirs)
    async with workers(2, queue):
        await until(are_done)
    # Bob came behind all of Alice's, and Charlie, who is of another team, behind Bob.
    assert (await in_db(order))[:4] in (
        ["Alice", "Charlie", "Bob", "Alice"],
        ["Charlie", "Alice", "Bob", "Alice"],
    )
    assert len(await in_db(order)) == 14


async def test_a_session_with_many_queued_prompts_delays_others_by_one_turn(
    alice: User, charlie: User, project: Project, theirs: Project, settings: Any, queue: Queue
) -> None:
    settings.WORKER_CONCURRENCY = settings.CELERY_WORKER_CONCURRENCY = 1
    long = await in_db(ask, alice, project)
    for _ in range(3):
        await in_db(partial(prompt, alice, long, QUICK, delivery="queue"))
    short = await in_db(ask, charlie, theirs)
    async with workers(1, queue):
        await until(are_done)
    answers = Message.objects.filter(role="assistant").order_by("pk")
    found = await in_db(lambda: list(answers.values_list("session", flat=True)))
    assert found == [long.pk, short.pk, long.pk, long.pk, long.pk]


async def test_a_team_at_its_limit_waits_for_its_own_turns_only_and_is_rung_for_once_for_each(
    alice: User, charlie: User, project: Project, theirs: Project, queue: Queue
) -> None:
    await in_db(Team.objects.filter(pk=project.team_id).update, max_turns=1)
    held = Run.objects.filter(session__project=project, lease_until__gt=timezone.now())
    first = await in_db(ask, alice, project, SLOW)
    async with workers(6, queue):
        await until(held.exists)
        rest = [await in_db(ask, alice, project) for _ in range(3)]
        other = await in_db(ask, charlie, theirs)
        await until(lambda: Session.objects.filter(pk=other.pk, outcome="done").exists())
        assert await in_db(runnable_sessions) == []
        assert await in_db(Run.objects.filter(taken_at=None).count) == len(rest)
        queue.rings.clear()
        await stop(alice, first)
        await until(are_done)
    # Each end has woken the next one and nobody else. The stop itself rings, too.
    assert [ring for ring in queue.rings if ring != first.pk] == [one.pk for one in rest]


async def test_who_waits_for_their_team_sees_why_and_can_stop(
    alice: User, project: Project, queue: Queue, client: Client
) -> None:
    await in_db(Team.objects.filter(pk=project.team_id).update, max_turns=1)
    async with workers(4, queue):
        first = await in_db(ask, alice, project, SLOW)
        await until(Run.objects.exclude(lease_until=None).exists)
        second, third = [await in_db(ask, alice, project) for _ in range(2)]
        long_ago = timezone.now().replace(year=2020)
        waits = Session.objects.filter(pk__in=[second.pk, third.pk])
        await in_db(waits.update, state_since=long_ago)
        await in_db(client.force_login, alice)
        page = (await in_db(client.get, f"/t/acme/s/{third.pk}")).content.decode()
        assert "Queued, 2nd in your team: 1 turn running" in page
        assert "Queued, next in your team: 1 turn running" in page
        await stop(alice, second)
        await until(lambda: Session.objects.get(pk=second.pk).outcome == "stopped")
        await stop(alice, first)
        await until(are_done)
    assert await in_db(lambda: Session.objects.get(pk=third.pk).outcome) == "done"


async def test_who_was_rung_for_what_only_the_ring_knows_is_not_forgotten(
    alice: User, project: Project, queue: Queue
) -> None:
    await in_db(Team.objects.filter(pk=project.team_id).update, max_turns=1)
    first, second = await in_db(ask, alice, project, SLOW), await in_db(ask, alice, project)

    @transaction.atomic
    def suspend() -> None:
        later = to_ms(timezone.now() + timedelta(hours=1))
        status = SessionStatus(state="busy", waits_for="room", until=later)
        append(lock_session(second.pk), [status])

    await in_db(suspend)
    async with workers(4, queue):
        await until(Run.objects.filter(session=first).exclude(lease_until=None).exists)
        queue.send("sessions.run", second.pk)
        await until(Run.objects.filter(session=second).exclude(rung_at=None).exists)
        await stop(alice, first)
        await until(are_done)
    run = await in_db(Run.objects.get, session=second)
    assert (run.rung_at, run.taken_at is None) == (None, False)


def test_race_two_workers_and_one_place_of_a_team(alice: User, bob: User, project: Project) -> None:
    Team.objects.filter(pk=project.team_id).update(max_turns=1)
    first, second = ask(alice, project), ask(alice, project)
    assert behind(lambda: take_up(first.pk), lambda: take_up(second.pk)) is None
    assert Run.objects.exclude(lease_until=None).count() == 1
