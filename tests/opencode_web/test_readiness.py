from __future__ import annotations

import asyncio
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import AsyncClient
from django.utils import timezone

from opencode_web import readiness
from opencode_web.lib.db import in_db
from opencode_web.readiness import Check, Checks, Probe, Readiness
from sessions.models import ServerProcess
from teams.models import Team, User
from tests.factories import make_token

pytestmark = pytest.mark.django_db(transaction=True)
GOOD = {"bus": True, "database": True, "disk": True, "migrations": True, "worker": True}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    settings.SANDBOX_FREE_DISK_MB = 1
    monkeypatch.setattr(readiness, "readiness", of())


def of() -> Readiness:
    return Readiness(
        (
            Probe(("database", "migrations", "worker"), readiness.check_database),
            Probe(("bus",), readiness.check_bus),
            Probe(("disk",), readiness.check_disk),
        )
    )


def make_worker(kind: ServerProcess.Kind = ServerProcess.Kind.WORKER) -> None:
    now = timezone.now()
    ServerProcess.objects.create(
        name="host:1", kind=kind, host="local", started_at=now, seen_at=now
    )


async def ask(**headers: str) -> tuple[int, dict[str, Any]]:
    answer = await AsyncClient().get("/global/ready", headers=headers)
    assert "no-store" in answer["Cache-Control"]
    return answer.status_code, answer.json()


@pytest.mark.parametrize("kind", [ServerProcess.Kind.WORKER, ServerProcess.Kind.ALL])
async def test_a_server_with_all_that_it_needs_is_ready(kind: ServerProcess.Kind) -> None:
    await in_db(make_worker, kind)
    assert await ask() == (200, {"ready": True, "checks": GOOD})


async def test_without_a_live_worker_it_is_not() -> None:
    await in_db(make_worker, ServerProcess.Kind.WEB)
    assert await ask() == (503, {"ready": False, "checks": GOOD | {"worker": False}})


async def test_a_database_that_fails_takes_along_what_is_asked_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> bool:
        raise OperationalError("password of somebody at db.internal")

    monkeypatch.setattr(readiness, "has_pending_migrations", away)
    status, body = await ask()
    assert (status, "internal" in str(body)) == (503, False)
    bad = {"database": False, "migrations": False, "worker": False}
    assert body["checks"] == GOOD | bad


async def test_pending_migrations_and_a_full_disk_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(readiness, "has_pending_migrations", lambda: True)
    settings.SANDBOX_FREE_DISK_MB = shutil.disk_usage("/").total
    checks = (await ask())[1]["checks"]
    assert checks == {
        "database": True,
        "migrations": False,
        "worker": False,
        "bus": True,
        "disk": False,
    }


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of something that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


async def test_a_redis_that_hangs_or_is_gone_holds_nobody_up(
    silent: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(make_worker)
    settings.EMBEDDED = False
    for url in (silent, "redis://127.0.0.1:1/0"):
        settings.REDIS_URL = url
        monkeypatch.setattr(readiness, "readiness", of())
        began = time.monotonic()
        assert (await ask())[1]["checks"] == GOOD | {"bus": False}
        assert time.monotonic() - began < 2 * readiness.LIMIT_S


async def test_a_check_that_hangs_is_run_once_and_answered_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on, runs = threading.Event(), 0

    def hang() -> Checks:
        nonlocal runs
        runs += 1
        go_on.wait(30)
        return {"database": Check(True)}

    monkeypatch.setattr(readiness, "LIMIT_S", 0.1)
    monkeypatch.setattr(readiness, "CACHE_S", 0)
    tried = Readiness((Probe(("database",), hang),))
    for _ in range(3):
        assert (await tried.checks())["database"] == Check(False, "No answer within 0.1 s.")
    assert runs == 1
    go_on.set()
    async with asyncio.timeout(5):
        while not (await tried.checks())["database"].ok:
            await asyncio.sleep(0.01)


async def test_many_who_ask_at_once_cost_one_check() -> None:
    runs = 0

    def count() -> Checks:
        nonlocal runs
        runs += 1
        return {"disk": Check(True)}

    tried = Readiness((Probe(("disk",), count),))
    await asyncio.gather(*(tried.checks() for _ in range(50)))
    await tried.checks()
    assert runs == 1


async def test_only_operators_read_why(alice: User, team: Team) -> None:
    _, secret = await in_db(make_token, alice, team)
    assert "details" not in (await ask(authorization=f"Bearer {secret}"))[1]
    assert "details" not in (await ask(authorization="Bearer nonsense"))[1]
    await in_db(User.objects.filter(pk=alice.pk).update, is_superuser=True)
    details = (await ask(authorization=f"Bearer {secret}"))[1]["details"]
    assert details["worker"] == "0 online"
    assert details["disk"].endswith(" MB free")
