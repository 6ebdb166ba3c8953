"""How much of this host's disk the files of each project take up."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path

from django.conf import settings

from sessions.git.places import project_home
from sessions.models import Project

logger = logging.getLogger(__name__)

_TIMEOUT_S = 600
_KIB = 1024


def measure_projects() -> None:
    """Measure every project of this host: its folder, its worktrees and what can be restored."""
    for project in Project.objects.filter(host=settings.HOST_NAME).only("id", "directory"):
        snapshots = Path(settings.DATA_DIR) / "snapshots" / project.pk
        folders = (Path(project.directory), project_home(project.pk), snapshots)
        try:
            size_bytes = _size_bytes([folder for folder in folders if folder.is_dir()])
        except (OSError, subprocess.SubprocessError, ValueError) as exc:
            # What was measured last counts until the next time.
            logger.warning("disk_use.failed project=%s", project.pk, exc_info=exc)
            continue
        Project.objects.filter(pk=project.pk).update(disk_bytes=size_bytes)


def _size_bytes(folders: list[Path]) -> int:
    if not folders:
        return 0
    # It follows no link, and tells the size of what it could read when it could not read all.
    done = subprocess.run(  # noqa: S603 - without a shell
        ["nice", "du", "-sk", "--", *map(str, folders)],  # noqa: S607 - as for git
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=_TIMEOUT_S,
        check=False,
    )
    lines = done.stdout.split(b"\n")
    return _KIB * sum(int(line.split(b"\t")[0]) for line in lines if line[:1].isdigit())
