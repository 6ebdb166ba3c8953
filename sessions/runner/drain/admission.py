"""Whether a session may take a worker's place now, or who goes before it.

A ring only says that there may be something to do. A worker that has a place for every session in
line takes up whichever rang; with fewer places it takes up who is next (`fair_line`), and rings
again for the one that gave way. Where a team is at its limit its sessions are left alone, and the
end of each of its turns rings for the one that is next.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from django.conf import settings
from django.db import transaction
from django.db.models import F, Func, OuterRef, QuerySet, Subquery
from django.db.models.functions import Now

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.db import lock_until_commit
from opencode_web.lib.errors import NotFound
from sessions.events.store import lock_session
from sessions.models import Run, Session, State
from sessions.queue_position import due_sessions, load_line
from sessions.runner.drain.abandoned import give_up
from sessions.runner.log.lease import Lease, take_lease
from sessions.wake import wake_in_line, wake_measuring
from teams.limits import most_disk_mb, most_turns

# Any number that no other advisory lock of ours has; the low half is the team's.
_TEAM_LOCKS = 0x6F63_7400 << 31


@dataclass(frozen=True)
class GivesWay:
    """Another session takes the place of the one that rang."""

    to: str


def _count(rows: QuerySet[Session] | QuerySet[Run]) -> Subquery:
    # As an aggregate it would group by the rows' keys.
    counted = rows.order_by().annotate(count=Func(F("pk"), function="COUNT"))
    return Subquery(counted.values("count"))


def _looks() -> QuerySet[Run]:
    team = OuterRef("session__project__team")
    held = Run.objects.filter(lease_until__gte=Now(), session__project__team=team)
    others = due_sessions().exclude(pk=OuterRef("pk"))
    return Run.objects.only("session").annotate(running=_count(held), waiting=_count(others))


_LOOK = CompiledQuery(lambda session_id: _looks().filter(session=session_id), str)


@transaction.atomic
def take_up(session_id: str, *, places: int | None = None) -> Lease | GivesWay | None:
    """Take the lease, and count a worker that was lost with it.

    In a transaction of its own: the work of `begin` may be what ends the workers.
    `places`: how many sessions this process could take up now, this one included.

    Returns: None when there is nothing to do: the session is idle or gone, a live worker holds the
    lease, its team is at its limit, or the turn has cost too many workers and has ended.
    """
    try:
        session = lock_session(session_id)
    except NotFound:
        return None
    if session.run.stop_requested_at is None:
        if session.state == State.IDLE:
            return None  # a doubled ring must not take up prompts that a stop holds
        first = _find_first(session, settings.WORKER_CONCURRENCY if places is None else places)
        if first != session.pk:
            return GivesWay(first) if first else None
    lease = take_lease(session)
    if lease is None or (lease.taken_over and give_up(session, lease)):
        return None
    return lease


def _find_first(session: Session, places: int) -> str:
    """Returns: which session takes the place: the locked one, another one, or none."""
    limit = most_turns(session.project.team.max_turns)
    if limit is not None:
        # Two at the same moment must count each other.
        lock_until_commit(_TEAM_LOCKS + crc32(session.project.team_id.encode()) // 2)
    look = _LOOK.first(session.pk)
    running: int = look.running  # type: ignore[union-attr]  # annotated; its row is locked
    waiting: int = look.waiting  # type: ignore[union-attr]
    if waiting < places and (limit is None or running + waiting < limit):
        return session.pk
    line = load_line(session.pk)
    ready = line.ready_on(session.project.host)
    if session.pk in ready[: max(1, places)]:
        return session.pk
    if session.pk in line.hosts:
        Run.objects.filter(session=session, rung_at=None).update(rung_at=Now())
    return ready[0] if session.pk in ready else ""


def ring_next(team_id: str) -> None:
    """Ring for who is next of a team, where a turn of it has ended that kept others waiting."""
    ready = load_line().order.ready
    first = next((one.id for one in ready if one.team == team_id and not one.settles), None)
    if first is not None:
        wake_in_line([first])


def ring_measuring(session_id: str) -> None:
    """Have the files of a session's project measured, where its team has a limit of disk space."""
    session = Session.objects.select_related("project__team").filter(pk=session_id).first()
    if session is not None and most_disk_mb(session.project.team) is not None:
        wake_measuring(session.project)
