from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from sessions.models import Message, Part, ServerProcess, Session, State
from sessions.present.pages.activity import silent_since

pytestmark = pytest.mark.django_db
FIVE_MINUTES = timedelta(minutes=5)


@pytest.fixture
def silent(session: Session) -> Session:
    session.state = State.BUSY
    session.active_at = timezone.now() - FIVE_MINUTES
    session.save()
    return session


def write(session: Session, data: dict[str, object]) -> None:
    message = Message.objects.create(
        id="msg_1", session=session, role="assistant", seq=1, data={"role": "assistant"}
    )
    Part.objects.create(
        id="prt_1", message=message, session=session, type=data["type"], seq=1, data=data
    )


def test_a_session_that_runs_in_silence_is_silent_since_its_newest_event(silent: Session) -> None:
    write(silent, {"type": "tool", "state": {"status": "running"}})
    assert silent_since(silent) == silent.active_at


def test_one_that_a_process_writes_for_is_not(silent: Session) -> None:
    now = timezone.now()
    ServerProcess.objects.create(name="one", started_at=now, seen_at=now, growing=[silent.pk])
    assert silent_since(silent) is None


def test_of_a_text_that_has_stopped_only_so_much_is_certain(silent: Session) -> None:
    write(silent, {"type": "text", "text": "And", "time": {"start": 1}})
    since = silent_since(silent)
    assert since is not None
    assert timedelta(seconds=29) < timezone.now() - since < timedelta(seconds=60)


def test_nothing_is_asked_of_one_that_rests_or_has_just_moved(
    silent: Session, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        silent.active_at = timezone.now()
        assert silent_since(silent) is None
        silent.state, silent.active_at = State.IDLE, timezone.now() - FIVE_MINUTES
        assert silent_since(silent) is None
