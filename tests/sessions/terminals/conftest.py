from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient

from sessions.models import Project
from sessions.terminals.host import end_terminals, start_terminal
from teams.models import Team, User
from tests.factories import make_token
from tests.sessions.api.conftest import TokenClient


@pytest.fixture(autouse=True)
async def close_the_connection_of_the_session_middleware() -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


# What a start may fail with, beside the end of the worker.
EXPECTED: type[BaseException] = CancelledError


@pytest.fixture(autouse=True)
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    started: list[Future[None]] = []

    def send(task: str, terminal_id: str, environment: str, **_: Any) -> None:
        assert task == "sessions.terminal"
        started.append(start_terminal(terminal_id, sealed_environment=environment))

    monkeypatch.setattr("sessions.wake._send", send)
    yield
    end_terminals(30)
    for future in started:
        try:
            future.result(30)
        except (CancelledError, EXPECTED):
            continue


class Person:
    """Somebody with a token, over REST and sockets."""

    def __init__(self, user: User, team: Team, project: Project) -> None:
        self.user = user
        self.token, secret = make_token(user, team)
        self.headers = [(b"authorization", f"Bearer {secret}".encode())]
        self.client: AsyncClient = TokenClient({"Authorization": f"Bearer {secret}"})
        self._project = project

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        place = f"{path}?directory={self._project.directory}"
        more = {} if body is None else {"data": body, "content_type": "application/json"}
        return await getattr(self.client, method)(place, headers=headers, **more)

    async def open(self, **body: Any) -> dict[str, Any]:
        # Without the profile of this machine, and with a prompt to wait for.
        plan = {"args": ["--norc", "--noprofile"], "env": {"PS1": "ready> "}, **body}
        response = await self.call("post", "/pty", plan)
        assert response.status_code == 200, response.content
        info: dict[str, Any] = response.json()
        return info


@pytest.fixture
def ann(alice: User, team: Team, project: Project) -> Person:
    return Person(alice, team, project)


@pytest.fixture
def bill(bob: User, team: Team, project: Project) -> Person:
    return Person(bob, team, project)
