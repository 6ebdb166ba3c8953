from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connections, transaction
from django.utils import timezone

from opencode_web.lib.errors import AppError, Conflict
from sessions.actions.control import request_stop
from sessions.actions.permissions import reply_permission
from sessions.events.messages import MessageTime
from sessions.events.store import LeaseLost
from sessions.events.types import MessageUpdated, SessionEvent, SessionUpdated
from sessions.models import PermissionRequest, Run, Session
from sessions.runner import run_session
from sessions.runner.drain.admission import take_up
from sessions.runner.drain.advance import advance
from sessions.runner.log.lease import Lease, acquire_lease, runnable_sessions
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.log.text_writer import append_events
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import take_up_and_begin

# FEAT-0001 NFR-01 and FR-09: who comes second waits for the first, and sees what it did.


class Held:
    """A transaction of another worker or web process, in a thread, that waits before its commit."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.outcome: object = None
        self._work = work
        self._locked, self._commit = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._locked.wait(25)

    def _run(self) -> None:
        try:
            with transaction.atomic():
                self.outcome = self._work()
                self._locked.set()
                assert self._commit.wait(25)
        finally:
            connections.close_all()

    def commit(self) -> None:
        self._commit.set()
        self._thread.join(25)
        assert not self._thread.is_alive()


def behind(first: Callable[[], object], second: Callable[[], object]) -> object:
    """What the second brings, or raises, when it comes while the first is not committed."""
    held = Held(first)
    found: list[object] = []

    def run() -> None:
        try:
            found.append(second())
        except (AppError, LeaseLost) as exc:
            found.append(exc)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive(), "it did not wait for the first"
    held.commit()
    thread.join(25)
    assert not thread.is_alive()
    return found[0]


def waiting_session(alice: User, session: Session) -> PermissionRequest:
    prompt(alice, session, script([{"tool": "bash", "input": {"command": "touch made"}}]))
    async_to_sync(run_session)(session.pk)
    return PermissionRequest.objects.get(session=session)


def dead_owner(alice: User, session: Session) -> Lease:
    prompt(alice, session, script([{"text": "x"}]))
    lease = acquire_lease(session.pk)
    assert lease is not None
    Run.objects.filter(session=session).update(lease_until=timezone.now() - timedelta(seconds=1))
    return lease


def at_its_end(alice: User, session: Session) -> tuple[Lease, list[SessionEvent]]:
    """A turn whose last events are not appended yet."""
    prompt(alice, session, script([{"text": "first"}]))
    taken = take_up_and_begin(session.pk)
    assert taken is not None
    lease, turn = taken
    assert isinstance(turn, ProviderTurn)
    ended = {"finish": "stop", "time": MessageTime(created=1, completed=2)}
    return lease, [MessageUpdated(info=turn.info.model_copy(update=ended))]


def test_race_two_workers_and_one_lease(alice: User, session: Session) -> None:
    prompt(alice, session, script([{"text": "x"}]))
    assert behind(lambda: take_up(session.pk), lambda: take_up(session.pk)) is None
    run = Run.objects.get(session=session)
    assert run.token == 1


def test_race_a_zombie_appends_while_its_heir_takes_up(alice: User, session: Session) -> None:
    zombie = dead_owner(alice, session)
    late = [SessionUpdated(title="from the dead")]
    lost = behind(lambda: take_up(session.pk), lambda: append_events(zombie, late))
    assert isinstance(lost, LeaseLost)
    session.refresh_from_db()
    assert session.title != "from the dead"
    assert not session.events.filter(data__title="from the dead").exists()


def test_race_an_heir_takes_up_while_a_zombie_appends(alice: User, session: Session) -> None:
    zombie = dead_owner(alice, session)
    taken = behind(
        lambda: append_events(zombie, [SessionUpdated(title="just in time")]),
        lambda: take_up(session.pk),
    )
    assert isinstance(taken, Lease)
    assert taken.taken_over
    # What the heir saw is what was written before it.
    seqs = list(session.events.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
    session.refresh_from_db()
    assert session.title == "just in time"


@pytest.mark.parametrize("reply", ["once", "reject"])
def test_race_two_answers(alice: User, bob: User, session: Session, reply: Any) -> None:
    request = waiting_session(alice, session)
    late = behind(
        lambda: reply_permission(session_access(alice, session), request, reply="once"),
        lambda: reply_permission(session_access(bob, session), request, reply=reply),
    )
    assert isinstance(late, Conflict)
    assert "Alice allowed it once" in late.message
    request.refresh_from_db()
    assert (request.status, request.replied_by) == ("once", alice)
    assert session.events.filter(type="permission.replied").count() == 1


def test_race_an_answer_against_a_stop(alice: User, bob: User, session: Session) -> None:
    request = waiting_session(alice, session)
    behind(
        lambda: request_stop(session_access(bob, session)),
        lambda: reply_permission(session_access(alice, session), request, reply="once"),
    )
    async_to_sync(run_session)(session.pk)
    session.refresh_from_db()
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "stopped_by", "values": {"name": "Bob"}}
    part = session.parts.get(type="tool")
    assert part.data["state"]["status"] == "error"
    assert not (Path(session.project.directory) / "made").exists()


def test_race_a_stop_against_an_answer(alice: User, bob: User, session: Session) -> None:
    request = waiting_session(alice, session)
    stopped = behind(
        lambda: reply_permission(session_access(alice, session), request, reply="once"),
        lambda: request_stop(session_access(bob, session)),
    )
    assert stopped is True
    async_to_sync(run_session)(session.pk)
    session.refresh_from_db()
    assert (session.state, session.outcome) == ("idle", "stopped")
    # The answer counted, and nothing ran for it any more.
    request.refresh_from_db()
    assert request.status == "once"
    assert not (Path(session.project.directory) / "made").exists()


def test_race_a_steer_against_idle(alice: User, session: Session) -> None:
    lease, last = at_its_end(alice, session)
    # The turn ends while the steer is on its way: it must not be left behind in the inbox.
    behind(
        lambda: advance(lease, last),
        lambda: prompt(alice, session, script([{"text": "steered"}])),
    )
    session.refresh_from_db()
    assert session.state == "busy"
    assert [pk for pk, _ in runnable_sessions()] == [session.pk]
    async_to_sync(run_session)(session.pk)
    session.refresh_from_db()
    assert (session.state, session.outcome) == ("idle", "done")
    assert session.parts.filter(data__text="steered").exists()


def test_race_idle_against_a_steer(alice: User, session: Session) -> None:
    lease, last = at_its_end(alice, session)
    step = behind(
        lambda: prompt(alice, session, script([{"text": "steered"}])),
        lambda: advance(lease, last),
    )
    # The owner saw it before it let go.
    assert isinstance(step, ProviderTurn)
    session.refresh_from_db()
    assert session.state == "busy"
    assert not session.inputs.filter(status="admitted").exists()
