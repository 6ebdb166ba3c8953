"""Migrations run forwards and backwards where there is something to lose.

One by one: a new database takes the squashed ones, which have to make the same of it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from opencode_web.lib.db import close_pool
from sessions.events.replay import read_rows, rebuild
from sessions.models import Event, Session
from teams.models import Role
from tests.factories import add_member, make_team, make_user
from tests.filled import OURS, fill
from tests.migrated import beside, database, template
from tests.sessions.factories import make_project, make_session
from tests.sessions.story import Story

Targets = list[tuple[str, str]]
# app.migration: why there is no way back.
IRREVERSIBLE: dict[str, str] = {}
# The first migrations of each released version. Until there is one: where the project began.
FIRST = "beginning"
RELEASED: dict[str, Targets] = {FIRST: [(app, "0001_initial") for app in OURS]}
_SCHEMA = {
    "sqlite": (
        "SELECT m.name, c.name, c.type, c.[notnull], c.dflt_value, c.pk"
        " FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
        "SELECT m.name, k.[table], k.[from], k.[to], k.on_delete"
        " FROM sqlite_master m, pragma_foreign_key_list(m.name) k",
        "SELECT name, sql FROM sqlite_master WHERE type <> 'table'",
    ),
    "postgresql": (
        "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable,"
        " column_default, is_identity FROM information_schema.columns"
        " WHERE table_schema = 'public'",
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace",
        # What Django names after a table keeps its name when the table is renamed.
        r"SELECT regexp_replace(indexdef, 'INDEX \S+ ON', 'INDEX ON') FROM pg_indexes"
        " WHERE schemaname = 'public'",
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
        "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    ),
}


@pytest.fixture
def own_database(
    transactional_db: None, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[None]:
    """A database of the test alone, whatever becomes of it: migrated, or empty on request."""
    is_empty = getattr(request, "param", "") == "empty"
    kept = connection.settings_dict["NAME"]
    close_pool()
    connections.close_all()
    if connection.vendor == "sqlite":
        own = tmp_path / "own.sqlite3"
        if not is_empty:
            shutil.copyfile(database(), own)
        connection.settings_dict["NAME"] = str(own)
    else:
        connection.settings_dict["NAME"] = f"{kept}_own"
        made = "template0" if is_empty else template(os.environ["DATABASE_URL"])
        _on_server(
            f'DROP DATABASE IF EXISTS "{kept}_own" WITH (FORCE)',
            f'CREATE DATABASE "{kept}_own" TEMPLATE "{made}"',
        )
    yield
    close_pool()
    connections.close_all()
    if connection.vendor != "sqlite":
        _on_server(f'DROP DATABASE "{kept}_own" WITH (FORCE)')
    connection.settings_dict["NAME"] = kept


def _on_server(*statements: str) -> None:
    with psycopg.connect(beside(os.environ["DATABASE_URL"], "postgres"), autocommit=True) as server:
        for statement in statements:
            server.execute(statement)  # type: ignore[arg-type]


class StepLoader(MigrationLoader):
    """Knows no squashed migrations."""

    def load_disk(self) -> None:
        super().load_disk()
        steps = {key: one for key, one in self.disk_migrations.items() if not one.replaces}
        self.disk_migrations = steps


def step_executor() -> MigrationExecutor:
    # What an earlier one knows of the database is no longer so.
    executor = MigrationExecutor(connection)
    executor.loader = StepLoader(connection)
    return executor


def heads() -> Targets:
    return StepLoader(connection).graph.leaf_nodes()


def migrate(targets: Targets) -> None:
    step_executor().migrate(targets)


def schema(run: Callable[[str], Any]) -> list[set[Any]]:
    """Returns: columns, keys, indexes and triggers, in whichever order the columns are."""
    return [set(run(statement).fetchall()) for statement in _SCHEMA[connection.vendor]]


def migrated_schema() -> list[set[Any]]:
    """Returns: that of a new database."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(database())) as made:
            return schema(made.execute)
    url = os.environ["DATABASE_URL"]
    with psycopg.connect(beside(url, template(url))) as made:
        return schema(made.execute)  # type: ignore[arg-type]


def tell(folder: Path) -> Session:
    """A team with members, and a session in which something has happened."""
    alice = make_user("alice@example.com")
    team = make_team(alice, name="Acme", slug="acme")
    add_member(team, make_user("bill@example.com"), Role.BILLING)
    session = make_session(alice, make_project(team, folder / "shop"))
    for number in range(3):
        story = Story(session, alice)
        story.ask(f"mend {number}")
        story.answer()
    return session


def test_every_migration_has_a_way_back() -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    found = {
        f"{app}.{name}"
        for (app, name), migration in loader.disk_migrations.items()
        if app in OURS and not all(one.reversible for one in migration.operations)
    }
    assert found == IRREVERSIBLE.keys()


@pytest.mark.deep
@pytest.mark.each_database
@pytest.mark.timeout(1200)
def test_what_the_logs_say_survives_going_back_and_forth(
    own_database: None, tmp_path: Path
) -> None:
    fill()
    session = tell(tmp_path)
    events = list(Event.objects.order_by("id").values())
    rows = read_rows(session.pk)
    migrate(RELEASED[FIRST])
    migrate(heads())
    assert list(Event.objects.order_by("id").values()) == events
    with transaction.atomic():
        rebuild(session.pk)
    assert read_rows(session.pk) == rows


@pytest.mark.deep
@pytest.mark.each_database
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("own_database", ["empty"], indirect=True)
@pytest.mark.parametrize("version", RELEASED)
def test_every_released_version_can_be_upgraded_with_what_is_in_it(
    own_database: None, version: str
) -> None:
    executor = step_executor()
    executor.migrate(RELEASED[version])
    then = executor.loader.project_state(RELEASED[version]).apps
    made = fill(then)
    assert len(made) > 10
    migrate(heads())
    assert Event.objects.count() == 1
    assert Session.objects.count() == 1
    with connection.cursor() as cursor:
        assert schema(cursor.execute) == migrated_schema()
