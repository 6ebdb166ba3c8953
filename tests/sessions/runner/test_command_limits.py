from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.models import Project, Run, RunningCommand, Session
from sessions.runner.log.lease import acquire_lease
from sessions.sandboxes.build import command_limits, sandbox_for
from sessions.sandboxes.places import TeamPlaces
from teams.models import User
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.runner.drains import allow_bash, drain, parts_of, until
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.places import ANY_NUMBER, Places

MIB = 1024 * 1024
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("of_team", "of_project", "memory_mb", "processes"),
    [
        ({}, {}, 1000, 100),
        ({"command_memory_mb": 500}, {}, 500, 100),
        ({}, {"command_memory_mb": 500, "command_processes": 50}, 500, 50),
        ({"command_memory_mb": 300}, {"command_memory_mb": 500}, 300, 100),
        ({"command_memory_mb": 9000, "command_processes": 9000}, {}, 1000, 100),
    ],
)
def test_a_team_and_a_project_can_only_lower_the_limits(
    project: Project,
    settings: Settings,
    of_team: JsonObject,
    of_project: JsonObject,
    memory_mb: int,
    processes: int,
) -> None:
    settings.SANDBOX_MEMORY_MB = 1000
    settings.SANDBOX_PROCESSES = 100
    project.team.config = {"limits": of_team}
    project.config = {"limits": of_project}
    limits = command_limits(project)
    assert limits.memory_bytes == memory_mb * MIB
    assert limits.processes == processes
    assert limits.cpu_s == settings.SANDBOX_CPU_S


def leased(user: User, project: Project) -> Session:
    """A session that a worker holds."""
    session = make_session(user, project)
    assert acquire_lease(session.pk)
    return session


def waiting() -> int:
    return RunningCommand.objects.count()


async def test_commands_beyond_the_limit_of_their_team_wait_in_line(
    alice: User, project: Project, settings: Settings
) -> None:
    # Two at the same time would find the folder of the other.
    program = "mkdir only && sleep 0.1{} && rmdir only"
    calls = [{"tool": "bash", "input": {"command": program.format(n)}} for n in range(3)]
    text = script(calls, [{"text": "Done."}])
    settings.COMMANDS_PER_TEAM = 1
    sessions = [await in_db(make_session, alice, project) for _ in range(2)]
    await in_db(allow_bash, sessions[0])
    for session in sessions:
        await in_db(prompt, alice, session, text)
    await asyncio.gather(*map(drain, sessions))
    for session in sessions:
        done = await in_db(parts_of, session, "tool")
        assert [call["state"]["metadata"]["exit"] for call in done] == [0] * 3
    assert await in_db(waiting) == 0


async def test_who_gives_up_while_waiting_leaves_no_gap(alice: User, project: Project) -> None:
    first, second, third = [await in_db(leased, alice, project) for _ in range(3)]
    order = list[str]()

    async def run(session: Session) -> None:
        async with TeamPlaces(session.pk, project.team_id, 1).hold():
            order.append(session.pk)

    async with TeamPlaces(first.pk, project.team_id, 1).hold():
        quitter = asyncio.create_task(run(second))
        await until(lambda: waiting() == 2)
        waits = asyncio.create_task(run(third))
        await until(lambda: waiting() == 3)
        quitter.cancel()
        await until(lambda: waiting() == 2)
        assert order == []
    await waits
    assert order == [third.pk]


async def test_the_places_of_a_dead_worker_come_free_with_its_leases(
    alice: User, project: Project
) -> None:
    dead, taken_over, alive = [await in_db(leased, alice, project) for _ in range(3)]
    async with AsyncExitStack() as held:
        for session in (dead, taken_over):
            await held.enter_async_context(TeamPlaces(session.pk, project.team_id, 2).hold())
        waits = asyncio.create_task(
            held.enter_async_context(TeamPlaces(alive.pk, project.team_id, 1).hold())
        )
        await until(lambda: waiting() == 3)
        past = timezone.now() - timedelta(seconds=1)
        await in_db(Run.objects.filter(pk__in=[dead.pk, taken_over.pk]).update, lease_until=past)
        await in_db(acquire_lease, taken_over.pk)
        await waits


def test_commands_ask_for_a_place_only_where_they_are_limited(
    alice: User, project: Project
) -> None:
    session = make_session(alice, project)

    def places() -> Places:
        sandbox = sandbox_for(session)
        assert isinstance(sandbox, BubblewrapSandbox)
        return sandbox.limits.places

    assert places() is ANY_NUMBER
    session.project.team.max_commands = 7
    assert places() == TeamPlaces(session.pk, project.team_id, 7)
