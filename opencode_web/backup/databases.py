"""Copy the database as of one moment, and put a copy in its place."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import connection
from django.utils import timezone

from opencode_web.backup import postgres
from opencode_web.backup.errors import BackupError, DamagedBackup
from opencode_web.backup.files import CHUNK_BYTES, Reader, Writer
from opencode_web.backup.layout import sqlite_file
from opencode_web.backup.manifest import Engine
from opencode_web.lib.removals import SCRATCH_PREFIX

DATABASE, LOGS = "database", "logs"
_LOGS = "SELECT session_id, max(seq) FROM agent_sessions_event GROUP BY session_id ORDER BY 1"
_MIGRATIONS = "SELECT app, name FROM django_migrations ORDER BY app, name"


@dataclass(frozen=True)
class Watermark:
    """Where everything stood when the database was copied."""

    taken_at: datetime
    engine: Engine
    engine_version: int
    migrations: dict[str, list[str]]
    logs: int
    events: int


def dump_database(writer: Writer) -> Watermark:
    """Copy it while it is written to. Raises: BackupError."""
    if connection.vendor == "postgresql":
        return _dump_postgres(writer)
    return _dump_sqlite(writer)


def _dump_postgres(writer: Writer) -> Watermark:
    version = postgres.require_programs()
    with postgres.one_snapshot() as (cursor, snapshot):
        taken_at = timezone.now()
        cursor.execute(_MIGRATIONS)
        migrations = _by_app(cursor.fetchall())
        cursor.execute(_LOGS)
        logs, events = _write_logs(writer, cursor)
        with writer.file(DATABASE) as target:
            postgres.dump(target, snapshot)
    return Watermark(taken_at, "postgresql", version, migrations, logs, events)


def _dump_sqlite(writer: Writer) -> Watermark:
    path = sqlite_file()
    if path is None:
        raise BackupError(f"A database of the kind {connection.vendor} cannot be backed up.")
    copy = path.with_name(f"{SCRATCH_PREFIX}{path.name}")
    try:
        taken_at = timezone.now()
        with closing(_open(path)) as source, closing(sqlite3.connect(copy)) as target:
            # At once: readers keep nobody from writing, and in pieces it would begin anew
            # whenever somebody writes.
            source.backup(target, pages=-1)
            migrations = _by_app(target.execute(_MIGRATIONS))
            logs, events = _write_logs(writer, target.execute(_LOGS))
        with copy.open("rb") as content, writer.file(DATABASE) as stored:
            shutil.copyfileobj(content, stored, CHUNK_BYTES)
    finally:
        remove_sqlite(copy)
    version = sqlite3.sqlite_version_info[0]
    return Watermark(taken_at, "sqlite", version, migrations, logs, events)


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=60)


def remove_sqlite(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


def _by_app(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for app, name in rows:
        found[app].append(name)
    return dict(found)


def _write_logs(writer: Writer, rows: Iterable[tuple[str, int]]) -> tuple[int, int]:
    """Write the number of the newest event of each log. Returns: logs, and events in them."""
    logs = events = 0
    with writer.file(LOGS) as target:
        for session_id, seq in rows:
            target.write(f"{json.dumps([session_id, seq])}\n".encode())
            logs, events = logs + 1, events + seq
    return logs, events


def stage_sqlite(reader: Reader, path: Path) -> None:
    """Unpack a copy there and look at it. Raises: DamagedBackup."""
    with reader.file(DATABASE) as content, path.open("xb") as target:
        shutil.copyfileobj(content, target, CHUNK_BYTES)
    try:
        with closing(_open(path)) as database:
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
            logs = dict(database.execute(_LOGS).fetchall())
    except sqlite3.DatabaseError as exc:
        raise DamagedBackup(f"The database of the backup is damaged ({exc}).") from exc
    with reader.file(LOGS) as lines:
        wanted = dict(map(json.loads, lines))
    if found != "ok" or logs != wanted:
        raise DamagedBackup(f"The database of the backup is damaged ({found}).")


def is_empty() -> bool:
    """Whether the database has no people: the first visit makes some."""
    with connection.cursor() as cursor:
        if "teams_user" not in connection.introspection.table_names(cursor):
            return True
        cursor.execute("SELECT count(*) FROM teams_user")
        (count,) = cursor.fetchone()
        return not count
