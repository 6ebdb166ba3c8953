"""Put a backup in the place of what this installation has, or leave that as it is.

Everything is checked and unpacked beside what is there. Then the new takes the place of the old by
renames, and PostgreSQL by one transaction; what fails until then is undone. A restore that was
killed in between leaves a mark, and no server starts until another one has ended.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection, connections, transaction
from django.db.migrations.loader import MigrationLoader

from opencode_web.backup import postgres
from opencode_web.backup.create import told_of
from opencode_web.backup.databases import DATABASE, is_empty, remove_sqlite, stage_sqlite
from opencode_web.backup.encryption import open_key
from opencode_web.backup.errors import BackupError
from opencode_web.backup.files import Reader, check_files
from opencode_web.backup.layout import (
    DATA,
    WORKTREES,
    Root,
    identities,
    roots,
    sqlite_file,
)
from opencode_web.backup.manifest import Manifest, read_manifest
from opencode_web.backup.unpack import unpack
from opencode_web.lib.crypto import names_of_keys
from opencode_web.lib.removals import SCRATCH_PREFIX
from opencode_web.preflight import RESTORING, StartError, hold_lock, require_writable
from teams.audit import AuditAction, record

logger = logging.getLogger(__name__)

Say = Callable[[str], None]
_SPARE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Wishes:
    """What the operator has said. `force`: replace what is there. `lost_key`: see the command."""

    passphrase: str = ""
    force: bool = False
    lost_key: bool = False


def restore_backup(folder: Path, *, wishes: Wishes, say: Say) -> Manifest:
    """Restore a backup on this host, whose server must not run. Raises: BackupError."""
    manifest = read_manifest(folder)
    _require_fit(manifest, wishes)
    say("Checking the backup…")
    check_files(folder, manifest)
    identity = open_key(folder, wishes.passphrase) if manifest.encrypted else None
    reader = Reader(folder, manifest, identity)
    with _installation():
        _require_stopped()
        if not wishes.force and not _is_unused():
            raise BackupError(
                "This installation is not empty. Pass --force to replace everything in it."
            )
        _require_room(manifest)
        _replace(reader, say)
        _record(manifest, say)
    return manifest


def _record(manifest: Manifest, say: Say) -> None:
    """Have the restored audit log tell of it."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    known = {name for app, name in loader.disk_migrations if app == "teams"}
    if known - set(manifest.migrations.get("teams", ())):
        say("The audit log does not tell of this restore: its tables are of an older version.")
        return
    with transaction.atomic():
        told = {**told_of(manifest), "host": settings.HOST_NAME}
        record(AuditAction.BACKUP_RESTORED, actor=None, team=None, data=told)


def _require_fit(manifest: Manifest, wishes: Wishes) -> None:
    if manifest.engine != connection.vendor:
        raise BackupError(
            f"The backup is of {manifest.engine}, and this installation uses {connection.vendor}. "
            f"{'Set' if manifest.engine == 'postgresql' else 'Unset'} DATABASE_URL."
        )
    if manifest.engine == "postgresql":
        version = postgres.require_programs("pg_restore", "psql")
        if version < manifest.engine_version:
            raise BackupError(
                f"The backup is of PostgreSQL {manifest.engine_version}, and this server is "
                f"version {version}. Use a server of version {manifest.engine_version} or newer."
            )
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    applied = {(app, name) for app, names in manifest.migrations.items() for name in names}
    if applied - known:
        app, name = min(applied - known)
        raise BackupError(
            f"The backup is of a newer version of OpenCode Web, {manifest.app_version}: this one "
            f"does not have the migration {app}.{name}. Restore it with that version."
        )
    if manifest.key_fingerprint not in names_of_keys() and not wishes.lost_key:
        raise BackupError(
            "The backup was made with another SECRET_KEY, without which its stored keys and "
            "sign-ins cannot be read. Set SECRET_KEY (or the file secret_key in the data folder) "
            "to that key, or add that key to SECRET_KEY_FALLBACKS. If it is lost, pass --lost-key "
            "and enter all keys again."
        )
    for root, path in zip(roots(), (manifest.data_dir, manifest.worktrees_dir), strict=True):
        if str(root.path) != path:
            name = "OPENCODE_WEB_DATA" if root.name == DATA else "OPENCODE_WEB_WORKTREES"
            raise BackupError(
                f"Sessions and repositories name their files by {path}, and {name} is "
                f"{root.path}. Set {name}={path}."
            )


@contextmanager
def _installation() -> Iterator[None]:
    """Keep servers of this data folder from starting."""
    try:
        for root in roots():
            require_writable(root.path)
        lock = hold_lock(settings.DATA_DIR)
    except StartError as exc:
        raise BackupError(str(exc)) from exc
    try:
        yield
    finally:
        os.close(lock)


def _require_stopped() -> None:
    if connection.vendor == "postgresql" and (others := postgres.others_connected()):
        raise BackupError(
            f"{others} other connections to the database are open. Stop all web, worker and beat "
            "processes, then try again."
        )


def _is_unused() -> bool:
    unused = is_empty() and not any(_entries(root) for root in roots())
    return unused and not (settings.DATA_DIR / RESTORING).exists()


def _entries(root: Root) -> list[str]:
    """Returns: what a restore replaces directly below."""
    others = identities([one.path for one in roots() if one != root])
    found = []
    for entry in os.scandir(root.path):
        status = entry.stat(follow_symlinks=False)
        if not root.is_kept(entry.name) and (status.st_dev, status.st_ino) not in others:
            found.append(entry.name)
    return sorted(found)


def _require_room(manifest: Manifest) -> None:
    data, worktrees = (root.path for root in roots())
    wanted = defaultdict[int, int](lambda: _SPARE_BYTES)
    disks = {path.stat().st_dev: path for path in (worktrees, data)}
    for file in manifest.files:
        path = worktrees if file.name.startswith(f"{WORKTREES}.") else data
        wanted[path.stat().st_dev] += file.content_bytes
    for device, path in disks.items():
        free = shutil.disk_usage(path).free
        if free < wanted[device]:
            raise BackupError(
                f"The backup takes {wanted[device] / 1e6:,.0f} MB on the disk of {path}, and "
                f"{free / 1e6:,.0f} MB are free. What is there now is removed only at the end: "
                "free some space first."
            )


@dataclass
class _Swap:
    """Renames that can be undone."""

    done: list[tuple[Path, Path]] = field(default_factory=list)

    def move(self, source: Path, target: Path) -> None:
        source.rename(target)
        self.done.append((source, target))

    def undo(self) -> None:
        while self.done:
            source, target = self.done.pop()
            target.rename(source)


def _replace(reader: Reader, say: Say) -> None:
    with ExitStack() as scratches:
        staged = {root: scratches.enter_context(_scratch(root)) for root in roots()}
        for root, scratch in staged.items():
            say(f"Unpacking the files of {root.path}…")
            with reader.file(f"{root.name}.tar") as content:
                files = unpack(content, root, scratch / "new")
            say(f"  {files:,} files")
        say("Restoring the database…")
        database = sqlite_file()
        if database is not None:
            copy = database.with_name(f"{SCRATCH_PREFIX}{database.name}")
            scratches.callback(remove_sqlite, copy)
            remove_sqlite(copy)
            stage_sqlite(reader, copy)
        mark = settings.DATA_DIR / RESTORING
        # What a killed restore has left is undone by no other one that fails.
        was_unfinished = mark.exists()
        mark.touch(mode=0o600)
        swap = _Swap()
        try:
            connections.close_all()
            for root, scratch in staged.items():
                _swap_files(swap, root, scratch)
            if database is not None:
                _swap_sqlite(swap, database, copy)
            else:
                with reader.file(DATABASE) as content:
                    postgres.load(content)
        except BaseException:
            swap.undo()
            if not was_unfinished:
                mark.unlink()
            raise
        mark.unlink()
        if database is not None:
            remove_sqlite(_old(database))


def _swap_files(swap: _Swap, root: Root, scratch: Path) -> None:
    for name in _entries(root):
        swap.move(root.path / name, scratch / "old" / name)
    for path in sorted((scratch / "new").iterdir()):
        swap.move(path, root.path / path.name)


def _old(database: Path) -> Path:
    # Beside it, as it need not be in the data folder.
    return database.with_name(f"{SCRATCH_PREFIX}old-{database.name}")


def _swap_sqlite(swap: _Swap, database: Path, copy: Path) -> None:
    for end in ("", "-wal", "-shm"):
        path = database.with_name(f"{database.name}{end}")
        if path.exists():
            swap.move(path, path.with_name(f"{_old(database).name}{end}"))
    swap.move(copy, database)


@contextmanager
def _scratch(root: Root) -> Iterator[Path]:
    """Yields: a folder on the same disk, with `new` and `old` in it, that is removed at the end."""
    path = root.path / f"{SCRATCH_PREFIX}restore"
    _remove(path)
    for name in ("new", "old"):
        (path / name).mkdir(mode=0o700, parents=True)
    try:
        yield path
    finally:
        # Else the old files are in it, and could not be put back.
        if not (settings.DATA_DIR / RESTORING).exists():
            _remove(path)


def _remove(path: Path) -> None:
    if not path.exists():
        return
    for folder, names, _ in os.walk(path):
        for name in names:
            below = Path(folder, name)
            if not below.is_symlink():
                below.chmod(stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        logger.warning("restore.scratch_left path=%s", path)
