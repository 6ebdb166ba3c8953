from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from asgiref.sync import SyncToAsync
from django.core.management import CommandError, call_command
from django.db import connection, connections
from pytest_django import Settings

from opencode_web.backup.layout import sqlite_file
from opencode_web.lib.db import close_pool
from sessions.models import Project
from teams.models import Team
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import make_project


@pytest.fixture(autouse=True)
def folders(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[None]:
    settings.DATA_DIR = tmp_path / "data"
    settings.WORKTREES_DIR = tmp_path / "data" / "worktrees"
    settings.STATIC_ROOT = tmp_path / "data" / "static"
    settings.WORKTREES_DIR.mkdir(parents=True)
    yield
    disconnect()


@pytest.fixture
def project(team: Team, settings: Settings) -> Project:
    made = make_project(team, settings.WORKTREES_DIR / "shop")
    run(f"rm -rf .git; {INIT}", Path(made.directory))
    return made


Command = Callable[..., str]


@pytest.fixture
def command() -> Command:
    def call(*arguments: object, **options: object) -> str:
        out = io.StringIO()
        call_command(*map(str, arguments), stdout=out, stderr=out, **options)
        return out.getvalue()

    def in_thread(*arguments: object, **options: object) -> str:
        if arguments[0] == "restore":
            _end_leftovers()
        disconnect()
        return asyncio.run(asyncio.to_thread(_closing, call, *arguments, **options))

    return in_thread


def disconnect() -> None:
    """Close the connections of this process. One to a file that is gone would still read it."""
    close_pool()
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
    connections.close_all()


def _end_leftovers() -> None:
    """End the connections that threads of earlier tests in this process have left open."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


def refused(command: Command, *arguments: object, **options: object) -> str:
    with pytest.raises(CommandError) as caught:
        command(*arguments, **options)
    return str(caught.value)


def _closing(call: Command, *arguments: object, **options: object) -> str:
    try:
        return call(*arguments, **options)
    finally:
        connections.close_all()


def lose_database() -> None:
    disconnect()
    if (path := sqlite_file()) is not None:
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        return
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'DROP TABLE "{table}" CASCADE')
    connections.close_all()


class Meanwhile(Thread):
    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.rounds = 0
        self.failure: BaseException | None = None
        self._goes_on = True

    def run(self) -> None:
        try:
            while self._goes_on:
                self.work()
                self.rounds += 1
        except BaseException as exc:
            self.failure = exc
        finally:
            connections.close_all()

    def stop(self) -> None:
        self._goes_on = False
        self.join(30)
        assert self.failure is None, self.failure
