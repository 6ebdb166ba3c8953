"""Remove the files of what is erased, without rescuing anything, on the host that has them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from django.conf import settings

from sessions.git.places import project_home, rescued_root
from sessions.git.project_folders import managed_home
from sessions.jobs.sweep import remove_path
from teams.models import TeamExport

# Whose folders they have below those of the data folder.
OF_SESSIONS = ("sessions", "tool-output", "snapshots")
OF_PROJECTS = ("snapshots", "code")


def erase_session_files(session_ids: Iterable[str]) -> int:
    """Returns: how many folders went."""
    data = Path(os.path.realpath(settings.DATA_DIR))
    return _remove(data / kind / one for one in session_ids for kind in OF_SESSIONS)


def erase_project_files(project_id: str) -> int:
    """The worktrees that the server made, its checkouts, snapshots, and what was rescued of it.

    Returns: how many folders went.
    """
    data = Path(os.path.realpath(settings.DATA_DIR))
    return _remove(
        (
            *(data / kind / project_id for kind in OF_PROJECTS),
            project_home(project_id),
            rescued_root() / f"{project_id}.git",
            managed_home(project_id),
        )
    )


def erase_terminal_files(terminal_ids: Iterable[str]) -> int:
    """Returns: how many folders went."""
    return _remove(Path(settings.DATA_DIR, "terminals", one) for one in terminal_ids)


def erase_exports(team_ids: Collection[str]) -> int:
    """The archives of teams, which have everything in them. Returns: how many files went.

    One that is being made finds no row at its end, and is not kept.
    """
    rows = TeamExport.objects.filter(team__in=team_ids)
    ids = list(rows.values_list("pk", flat=True))
    rows.filter(pk__in=ids).delete()
    return _remove(export_file(one) for one in ids)


def export_file(export_id: str) -> Path:
    """Where the archive of a team is on its host."""
    return Path(settings.DATA_DIR, "exports", f"{export_id}.tar")


def _remove(paths: Iterable[Path]) -> int:
    return sum(remove_path(path) for path in paths if os.path.lexists(path))
