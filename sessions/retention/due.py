"""What is older than the days that a team keeps, and how much it is."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions.models import Session, State
from sessions.retention.holds import without_held
from teams.models import AuditEntry, Team
from teams.retention.days import Days, cut_at
from teams.retention.holds import first_held_entry

_BATCH = 500
OUTPUT_PREFIX = "tool_"


def due_sessions(team: Team, days: int) -> QuerySet[Session]:
    """Returns: the sessions at the top of trees in which nothing has happened for so long, nothing
    runs and nothing is held."""
    cut = cut_at(days)
    below = Session.objects.filter(root=OuterRef("pk"))
    lively = below.filter(Q(active_at__gte=cut) | Q(state=State.BUSY))
    old = Session.objects.filter(project__team=team, root=None, active_at__lt=cut)
    return without_held(old.exclude(state=State.BUSY).exclude(Exists(lively)), team)


@dataclass(frozen=True)
class Outputs:
    """Files of tools' long outputs. Units: bytes."""

    files: int = 0
    size_bytes: int = 0


def outputs_in(team: Team, days: int) -> Outputs:
    """Returns: the old ones of the team on this host."""
    before = time.time() - days * 86_400
    folders = _output_folders()
    files = size_bytes = 0
    for ids in _batches(folders):
        rows = Session.objects.filter(pk__in=ids, project__team=team).select_related("root")
        tops = {row.pk: row.top_id for row in rows}
        kept = _unheld(tops.values(), team)
        for session_id, top_id in tops.items():
            if top_id not in kept:
                continue
            for path, found in old_outputs(folders[session_id], before):
                files, size_bytes = files + bool(path), size_bytes + found.st_size
    return Outputs(files, size_bytes)


def old_outputs(folder: Path, before_s: float) -> Iterator[tuple[Path, os.stat_result]]:
    """Yields: the files in a session's folder that are older. Units: seconds of the epoch."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                is_output = entry.name.startswith(OUTPUT_PREFIX) and stat.S_ISREG(found.st_mode)
                if is_output and found.st_mtime < before_s:
                    yield Path(entry.path), found
    except FileNotFoundError:
        return


def _unheld(top_ids: Iterable[str], team: Team) -> set[str]:
    tops = Session.objects.filter(pk__in=set(top_ids))
    return set(without_held(tops, team).values_list("pk", flat=True))


def _output_folders() -> dict[str, Path]:
    root = settings.DATA_DIR / "tool-output"
    try:
        with os.scandir(root) as entries:
            return {one.name: Path(one.path) for one in entries if one.is_dir()}
    except FileNotFoundError:
        return {}


def _batches(names: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(names)
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]


def output_rules(session_ids: Iterable[str], days: dict[str, Days]) -> dict[str, int]:
    """Returns: for how many days the outputs of which sessions are kept; not there: for ever.

    `days`: what holds, by team.
    """
    rules: dict[str, int] = {}
    for ids in _batches(session_ids):
        rows = Session.objects.filter(pk__in=ids).select_related("project__team", "root")
        by_team: dict[Team, list[Session]] = {}
        for row in rows:
            by_team.setdefault(row.project.team, []).append(row)
        for team, own in by_team.items():
            kept = _unheld((row.top_id for row in own), team)
            limit = days[team.pk].outputs if team.pk in days else None
            if limit is not None:
                rules |= {row.pk: limit for row in own if row.top_id in kept}
    return rules


def due_entries(team_id: str | None, days: int) -> QuerySet[AuditEntry]:
    """Returns: the entries of a chain that are old and come before the first that is held."""
    rows = AuditEntry.objects.filter(team=team_id, time__lt=cut_at(days)).exclude(seq=None)
    held = first_held_entry(team_id)
    return rows if held is None else rows.filter(seq__lt=held)


@dataclass(frozen=True)
class Due:
    """What would go. `oldest` sessions are named by their titles, at most a few."""

    sessions: int
    outputs: Outputs
    entries: int
    titles: list[str]


def preview(team: Team, days: Days) -> Due:
    """Returns: what would go with these days."""
    due = due_sessions(team, days.sessions) if days.sessions else Session.objects.none()
    return Due(
        sessions=due.count(),
        outputs=outputs_in(team, days.outputs) if days.outputs else Outputs(),
        entries=due_entries(team.pk, days.audit).count() if days.audit else 0,
        titles=list(due.order_by("active_at", "pk").values_list("title", flat=True)[:5]),
    )
