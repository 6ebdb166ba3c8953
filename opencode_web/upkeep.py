"""What a start brings up to date: the database's schema and the collected static files."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

# Any number that no other advisory lock of ours has.
_LOCK = 0x6D6967


def _migrations_on_disk() -> set[tuple[str, str]]:
    return {
        (config.label, path.stem)
        for config in apps.get_app_configs()
        for path in Path(config.path, "migrations").glob("[!_]*.py")
    }


def has_pending_migrations() -> bool:
    """Compare names only: loading every migration module costs more than the rest of a start."""
    return not _migrations_on_disk() <= set(MigrationRecorder(connection).applied_migrations())


def migrate_if_needed() -> bool:
    """Returns: whether there was something to do. Processes that start at once wait for one."""
    if not has_pending_migrations():
        return False
    with _one_at_a_time():
        if not has_pending_migrations():
            return False
        call_command("migrate", interactive=False, verbosity=0)
    return True


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold a lock of the database, with SQLite of the data folder."""
    if connection.vendor != "postgresql":
        # It has one server, but a command can be run beside one that is just starting.
        folder = os.open(settings.DATA_DIR, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
        return
    with connection.cursor() as cursor:
        # The lock belongs to the connection, and migrations run on the same one.
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _static_stamp() -> str:
    """A digest over names, sizes and times of everything that would be collected."""
    digest = hashlib.sha256(settings.VERSION.encode())
    config = apps.get_app_config("staticfiles")
    assert isinstance(config, StaticFilesConfig)
    for finder in get_finders():
        for name, storage in finder.list(config.ignore_patterns):
            stat = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect_static_if_changed() -> bool:
    """Returns: whether there was something to do."""
    stamp = Path(settings.STATIC_ROOT, ".stamp")
    now = _static_stamp()
    if stamp.exists() and stamp.read_text() == now:
        return False
    # Names carry a hash of the content, so what is left of an older version can go.
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(now)
    return True
