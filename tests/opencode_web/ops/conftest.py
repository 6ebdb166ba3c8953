from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.db import close_pool
from sessions.models import Event, Project, Run, ServerProcess, Session, State, WaitsFor
from teams.models import Team, User
from tests.factories import make_user
from tests.sessions.factories import make_project, make_session


@pytest.fixture(scope="session", autouse=True)
def close_pool_connections(django_db_setup: None) -> Iterator[None]:
    yield
    close_pool()


@pytest.fixture
def root(db: None) -> User:
    return make_user("root@example.com", name="Root", operator=True)


@pytest.fixture
def console(root: User) -> Client:
    client = Client()
    client.force_login(root)
    return client


@pytest.fixture
def project(team: Team, tmp_path: Path) -> Project:
    return make_project(team, tmp_path / "shop")


Turn = Callable[..., Session]


@pytest.fixture
def turn(alice: User, project: Project) -> Turn:
    def make(
        state: State = State.BUSY,
        *,
        worker: str = "",
        silent_s: int = 0,
        waits_for: WaitsFor = WaitsFor.NOTHING,
    ) -> Session:
        """A session with a secret title, held by `worker`, whose newest event is so old."""
        session = make_session(alice, project, title="Secret plans")
        since = timezone.now() - timedelta(seconds=silent_s)
        rows = Session.objects.filter(pk=session.pk)
        rows.update(state=state, waits_for=waits_for, state_since=since)
        Event.objects.filter(session=session).update(time=since)
        if worker:
            until = timezone.now() + timedelta(minutes=5)
            Run.objects.filter(session=session).update(owner=worker, lease_until=until, token=7)
        return rows.get()

    return make


@pytest.fixture
def worker(db: None) -> ServerProcess:
    return make_process("host:1")


def make_process(
    name: str, kind: ServerProcess.Kind = ServerProcess.Kind.WORKER, *, seen_s: int = 0
) -> ServerProcess:
    now = timezone.now()
    return ServerProcess.objects.create(
        name=name,
        kind=kind,
        host="local",
        version="1.2.3",
        build="abc",
        started_at=now - timedelta(hours=1),
        seen_at=now - timedelta(seconds=seen_s),
        memory_bytes=64 * 1024 * 1024,
        sockets=3,
    )
