"""Remove the files of sessions and projects that are gone, and old outputs of tools, on the host
that has them.

Rows go by themselves: with a session, a project, a team. So nothing that deletes rows has to know
where files lie, and files of a deletion that was cut short are found as well.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder

from opencode_web.lib.loop import submit
from sessions.checkouts.removal import remove_checkouts, remove_left
from sessions.git.places import checkouts_root
from sessions.git.project_folders import managed_root
from sessions.git.snapshots import INDEX_PREFIX
from sessions.models import Checkout, Project, Session, TeamPlugin, Terminal
from sessions.repository.packages import packages_root
from sessions.retention.due import old_outputs, output_rules
from teams.retention.days import all_days_in_force

logger = logging.getLogger(__name__)

# Files are made before the transaction with their row has ended, and may outlive it for a moment.
MIN_AGE_S = 3600.0
_BATCH = 500


def sweep_files() -> int:
    """Remove what belongs to no row any more, is an hour old, and younger than the database.

    And the outputs that have been kept for long enough.

    Returns: how many folders and files were removed, each with what was in it.
    """
    data = Path(settings.DATA_DIR)
    span = _Span(_database_made_at(), time.time() - MIN_AGE_S)
    removed = 0
    for folder in (data / "sessions", data / "tool-output", data / "snapshots"):
        removed += _sweep(folder, span, _session_of, _existing_sessions)
    for folder in (data / "snapshots", data / "code", managed_root()):
        removed += _sweep(folder, span, _project_of, _existing_projects)
    for folder in _folders(data / "snapshots"):
        removed += _sweep(folder, span, _session_of_index, _existing_sessions)
    removed += _sweep(data / "terminals", span, _terminal_of, _open_terminals)
    removed += _sweep(packages_root(), span, _whole_name, _pinned_packages)
    removed += _sweep_checkouts(span)
    removed += _expire_outputs(data / "tool-output")
    if removed:
        logger.info("sweep.ended removed=%d", removed)
    return removed


def _sweep_checkouts(span: _Span) -> int:
    """Rescue and remove checkouts that belong to no row. Returns: how many folders it saw."""
    found = {path.name: path for path in _entries(checkouts_root(), span) if path.is_dir()}
    projects = set(_existing_projects(list(found)))
    gone = [name for name in found if _project_of(name) and name not in projects]
    for project_id in gone:
        submit(remove_checkouts(project_id)).result()
    left = 0
    for project_id in projects:
        homes = [path.name for path in _entries(found[project_id], span) if _session_of(path.name)]
        known = set(Checkout.objects.filter(pk__in=homes).values_list("pk", flat=True))
        unknown = [name for name in homes if name not in known]
        if unknown:
            submit(remove_left(project_id, unknown)).result()
        left += len(unknown)
    return len(gone) + left


def _expire_outputs(folder: Path) -> int:
    """Remove whole outputs of tools after their time; what a model was shown of them stays.

    Not by the age of the database: what is kept for days only is nobody's loss.
    """
    folders = {path.name: path for path in _folders(folder)}
    rules = output_rules(folders, all_days_in_force())
    now = time.time()
    return sum(
        remove_path(path)
        for session_id, days in rules.items()
        for path, _ in old_outputs(folders[session_id], now - days * 86_400)
    )


def hosts_with_files() -> list[str]:
    """Returns: every host that may have something to sweep, this one included."""
    return sorted({settings.HOST_NAME, *Project.objects.values_list("host", flat=True).distinct()})


@dataclass(frozen=True)
class _Span:
    """Only what was made in between, in seconds of the epoch, can be the rest of a deletion."""

    after: float
    before: float


def _database_made_at() -> float:
    # Whoever starts the server with a new or a wrong database has no row for any of the files.
    # They are older than that database, and stay.
    made = MigrationRecorder.Migration.objects.order_by("applied").values_list("applied", flat=True)
    first = made.first()
    return first.timestamp() if first else math.inf


def _session_of(name: str) -> str:
    return name if name.startswith("ses_") else ""


def _project_of(name: str) -> str:
    return name if name.startswith("prj_") else ""


def _session_of_index(name: str) -> str:
    return name.removeprefix(INDEX_PREFIX).partition(".")[0] if _is_index(name) else ""


def _is_index(name: str) -> bool:
    return name.startswith(INDEX_PREFIX)


def _existing_sessions(ids: list[str]) -> Iterable[str]:
    return Session.objects.filter(pk__in=ids).values_list("pk", flat=True)


def _terminal_of(name: str) -> str:
    return name if name.startswith("pty_") else ""


def _open_terminals(ids: list[str]) -> Iterable[str]:
    rows = Terminal.objects.exclude(status=Terminal.Status.EXITED)
    return rows.filter(pk__in=ids).values_list("pk", flat=True)


def _whole_name(name: str) -> str:
    return name


def _pinned_packages(digests: list[str]) -> Iterable[str]:
    return TeamPlugin.objects.filter(digest__in=digests).values_list("digest", flat=True)


def _existing_projects(ids: list[str]) -> Iterable[str]:
    return Project.objects.filter(pk__in=ids).values_list("pk", flat=True)


def _sweep(
    folder: Path,
    span: _Span,
    owner_of: Callable[[str], str],
    existing: Callable[[list[str]], Iterable[str]],
) -> int:
    """Remove the entries whose name says an owner that has no row. Others are nobody's business."""
    owners = {path: owner for path in _entries(folder, span) if (owner := owner_of(path.name))}
    ids = sorted(set(owners.values()))
    kept = {
        found for start in range(0, len(ids), _BATCH) for found in existing(ids[start:][:_BATCH])
    }
    return sum(remove_path(path) for path, owner in owners.items() if owner not in kept)


def _entries(folder: Path, span: _Span) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if span.after < entry.stat(follow_symlinks=False).st_mtime < span.before
            ]
    except FileNotFoundError:
        return []


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def remove_path(path: Path) -> bool:
    """Returns: whether it is gone. What cannot be removed is tried again in an hour."""
    try:
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:
            _open_folders(path)
            shutil.rmtree(path)
    except OSError as exc:
        logger.warning("sweep.failed path=%s %s", path, exc)
        return False
    return True


def _open_folders(top: Path) -> None:
    """Make every folder below writable: a command can take that away, as module caches do."""
    os.chmod(top, stat.S_IRWXU)  # noqa: PTH101  as below, where Path has no dir_fd
    for _, names, _, folder in os.fwalk(top, follow_symlinks=False):
        for name in names:
            if not stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
                os.chmod(name, stat.S_IRWXU, dir_fd=folder)
