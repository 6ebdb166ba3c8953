"""How much space the files of each project of this host take up, with those in messages."""

from __future__ import annotations

import logging
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Length

from sessions.git.places import project_home
from sessions.jobs.erase_files import OF_PROJECTS, OF_SESSIONS
from sessions.models import Part, Project, Terminal

logger = logging.getLogger(__name__)

_TIMEOUT_S = 600
# What takes longer is left to the hourly round.
_GROWN_TIMEOUT_S = 30
# Measuring after turns takes a twentieth of the time at most.
_SHARE = 20
_KIB = 1024

# Until when this process leaves a project alone. Lost with it, and nothing is lost by that.
_rests_until: dict[str, float] = {}


def measure_projects() -> None:
    """Measure every project of this host: all that people and agents can make larger in it."""
    for project in _local_projects():
        _measure(project, timeout_s=_TIMEOUT_S)


def measure_grown(project_id: str) -> None:
    """Measure a project of this host in which a turn has just run tools.

    Not so soon after the last time: turns may end all the time, and there may be much to measure.
    """
    started = time.monotonic()
    if started < _rests_until.get(project_id, 0.0):
        return
    # No second thread meanwhile.
    _rests_until[project_id] = started + _GROWN_TIMEOUT_S
    for project in _local_projects().filter(pk=project_id):
        _measure(project, timeout_s=_GROWN_TIMEOUT_S)
    ended = time.monotonic()
    _rests_until[project_id] = ended + _SHARE * (ended - started)


def _local_projects() -> QuerySet[Project]:
    return Project.objects.filter(host=settings.HOST_NAME).only("id", "directory")


def _measure(project: Project, *, timeout_s: float) -> None:
    folders = [Path(project.directory), project_home(project.pk), *_folders_of(project)]
    try:
        size_bytes = _size_bytes([one for one in folders if one.is_dir()], timeout_s=timeout_s)
    except (OSError, subprocess.SubprocessError, ValueError) as exc:
        # What was measured last counts until the next time.
        logger.warning("disk_use.failed project=%s", project.pk, exc_info=exc)
        return
    size_bytes += _attached_bytes(project)
    Project.objects.filter(pk=project.pk).update(disk_bytes=size_bytes)


def _attached_bytes(project: Project) -> int:
    """They are in the database, as base64 in URLs."""
    files = Part.objects.filter(session__project=project, type="file")
    return files.aggregate(sum=Sum(Length(KT("data__url"))))["sum"] or 0


def _folders_of(project: Project) -> Iterator[Path]:
    """Yields: what it may have in the data folder: of its own, of sessions and of terminals."""
    data = Path(settings.DATA_DIR)
    for ids, kinds in (
        ([project.pk], OF_PROJECTS),
        (project.sessions.values_list("pk", flat=True).iterator(), OF_SESSIONS),
        (Terminal.objects.filter(project=project).values_list("pk", flat=True), ("terminals",)),
    ):
        yield from (data / kind / one for one in ids for kind in kinds)


def _size_bytes(folders: list[Path], *, timeout_s: float) -> int:
    if not folders:
        return 0
    # It follows no link, and tells the size of what it could read when it could not read all.
    done = subprocess.run(
        ["nice", "du", "-sk", "--files0-from=-"],  # noqa: S607 - as for git
        input=b"\0".join(map(os.fsencode, folders)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=timeout_s,
        check=False,
    )
    lines = done.stdout.split(b"\n")
    return _KIB * sum(int(line.split(b"\t")[0]) for line in lines if line[:1].isdigit())
