from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.db import connections
from django.test import AsyncClient, Client

from opencode_web.lib.loop import submit
from sessions.runner import run_session
from teams.models import Scope, Team, User
from tests.factories import make_token

Connect = Callable[..., Client]
ConnectAsync = Callable[..., AsyncClient]


def bearer(user: User, team: Team, scope: Scope = Scope.ADMIN) -> dict[str, str]:
    return {"Authorization": f"Bearer {make_token(user, team, scope)[1]}"}


@pytest.fixture(scope="session", autouse=True)
def close_view_connection(django_db_setup: None) -> Iterator[None]:
    yield
    # Synchronous views of asynchronous clients run on this thread, which keeps its connection.
    SyncToAsync.single_thread_executor.submit(connections.close_all).result(10)


class TokenClient(AsyncClient):
    """Sends its headers with every request; Django's own loses default ones in ASGI scopes."""

    def __init__(self, token: dict[str, str]) -> None:
        super().__init__()
        self._token = token

    def generic(self, *args: Any, headers: dict[str, str] | None = None, **kwargs: Any) -> Any:
        return super().generic(*args, headers={**self._token, **(headers or {})}, **kwargs)


@pytest.fixture
def connect(team: Team) -> Connect:
    def make(user: User, scope: Scope = Scope.ADMIN, *, of: Team | None = None) -> Client:
        return Client(headers=bearer(user, of or team, scope))

    return make


@pytest.fixture
def connect_async(team: Team) -> ConnectAsync:
    def make(user: User, *, of: Team | None = None) -> AsyncClient:
        return TokenClient(bearer(user, of or team))

    return make


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    drains: list[Future[None]] = []

    def drain(task: str, argument: str, queue: str) -> None:
        assert task == "sessions.run"
        drains.append(submit(run_session(argument)))

    monkeypatch.setattr("sessions.wake._send", drain)
    yield
    for future in drains:
        future.result(20)
