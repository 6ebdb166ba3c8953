"""The lease on a session: at most one worker drains it, and a dead one is replaced.

Taking, renewing and releasing are conditional updates in database time; a take-over raises the
fencing token, which every append checks in its own transaction (`events.store.lock_session`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import (
    DateTimeField,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from opencode_web.lib.compiled import CompiledUpdate
from opencode_web.lib.errors import NotFound
from sessions.events.store import lock_session
from sessions.models import Project, Run, Session, State
from sessions.processes import process_name
from sessions.queue_position import load_line, next_person
from sessions.wake import wake
from teams.limits import most_turns


@dataclass(frozen=True)
class Lease:
    """The right to write to a session. `taken_over`: its last owner died with it.

    `team_id` is empty where the team may have any number of turns: nobody waits for the end of one.
    """

    session_id: str
    token: int
    taken_over: bool = False
    team_id: str = ""


def _expiry(length: timedelta) -> ExpressionWrapper[Combinable]:
    return ExpressionWrapper(Now() + length, output_field=DateTimeField())


def _length() -> timedelta:
    return timedelta(seconds=settings.LEASE_S)


def _free_run(session_id: str) -> QuerySet[Run]:
    free = Q(lease_until=None) | Q(lease_until__lt=Now())
    return Run.objects.filter(free, session=session_id)


# Whose prompt comes next.
_PERSON = Session.objects.filter(pk=OuterRef("pk")).annotate(person=next_person()).values("person")
_TAKE = CompiledUpdate(
    lambda session_id, owner, token, length: _free_run(session_id),
    lambda session_id, owner, token, length: {
        "owner": owner,
        "token": token,
        "lease_until": _expiry(length),
        "taken_at": Now(),
        "rung_at": None,
        "person": Subquery(_PERSON),
    },
    str,
    str,
    int,
    timedelta,
)
_RELEASE = CompiledUpdate(
    lambda session_id, token: Run.objects.filter(session=session_id, token=token),
    lambda session_id, token: {"owner": "", "lease_until": None, "token": F("token") + 1},
    str,
    int,
)


@transaction.atomic
def acquire_lease(session_id: str) -> Lease | None:
    """Returns: None when a live worker holds it, or the session is gone."""
    try:
        return take_lease(lock_session(session_id))
    except NotFound:
        return None


def take_lease(session: Session) -> Lease | None:
    """Take the lease on a locked session. Returns: None when a live worker holds it."""
    run = session.run
    if not _TAKE.write(session.pk, process_name(), run.token + 1, _length()):
        return None
    run.token += 1
    team = session.project.team
    team_id = "" if most_turns(team.max_turns) is None else team.pk
    return Lease(session.pk, run.token, taken_over=bool(run.owner), team_id=team_id)


def renew_lease(lease: Lease) -> bool | None:
    """Keep the lease.

    Returns: whether somebody asked the session to stop, or None when the lease is lost.
    """
    mine = Run.objects.filter(session_id=lease.session_id, token=lease.token)
    if not mine.update(lease_until=_expiry(_length())):
        return None
    return mine.exclude(stop_requested_at=None).exists()


def has_lost_worker(session: Session) -> bool:
    """Whether it works and its last owner has died with the lease, and nobody has taken it since.

    No query for one that needs no worker.
    """
    if session.state != State.BUSY or session.waits_for:
        return False
    return _free_run(session.pk).exclude(owner="").exists()


def release_lease(lease: Lease) -> None:
    """Give the lease back, in the transaction that writes the last event where there is one.

    The token rises: a transaction of this drain that is still under way in a thread, which nobody
    can cancel, must not write behind it.
    """
    _RELEASE.write(lease.session_id, lease.token)


@transaction.atomic
def abandon_lease(lease: Lease) -> None:
    """Give the lease up as if this worker had died, and have the session taken over at once.

    The owner's name stays: what this drain left open is settled like a dead worker's.
    """
    mine = Run.objects.filter(session_id=lease.session_id, token=lease.token)
    if mine.update(lease_until=None, token=F("token") + 1):
        session = Session.objects.select_related("project").get(pk=lease.session_id)
        wake(session.pk, session.project)


def runnable_sessions() -> list[tuple[str, Project]]:
    """Returns: sessions with something to do and no live owner, in the order of the line.

    Those of a team at its limit are not among them.
    """
    ready = [one.id for one in load_line().order.ready]
    found = Session.objects.select_related("project").in_bulk(ready)
    return [(session_id, found[session_id].project) for session_id in ready if session_id in found]
