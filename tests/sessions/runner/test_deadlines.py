from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict, Invalid
from sessions.actions.permissions import reply_permission
from sessions.config.model import parse_settings
from sessions.models import PermissionRequest, Project, QuestionRequest, Session
from sessions.wire import to_ms
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, is_runnable, parts_of

ASKS = script([{"tool": "bash", "input": {"command": "rm -r x", "description": "d"}}])


@pytest.fixture
def timeout(project: Project) -> None:
    project.config = {
        "limits": {"permission_timeout_s": 60},
        "permission": {"bash": "ask"},
    }
    project.save()


def pass_time(session: Session) -> None:
    """The rows as they are when the deadline has passed, in the log as well."""
    past = timezone.now() - timedelta(seconds=1)
    asked = session.events.get(type="permission.asked")
    asked.data["until"] = to_ms(past)
    asked.save()
    said = session.events.filter(type="session.status").order_by("seq").last()
    said.data["until"] = to_ms(past)
    said.save()
    moment = past.replace(microsecond=past.microsecond // 1000 * 1000)
    session.permissions.update(expires_at=moment)
    Session.objects.filter(pk=session.pk).update(wake_at=moment)


@pytest.mark.usefixtures("timeout")
async def test_a_request_that_nobody_answers_in_time_ends_the_turn(
    alice: User, session: Session
) -> None:
    before = timezone.now()
    await in_db(prompt, alice, session, ASKS)
    await drain(session)
    assert (session.state, session.waits_for) == ("waiting", "person")
    assert timedelta(seconds=59) < session.wake_at - before < timedelta(seconds=65)
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert request.expires_at == session.wake_at
    assert not await in_db(is_runnable, session)

    await in_db(pass_time, session)
    assert await in_db(is_runnable, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason["reason"] == "expired"
    (call,) = await in_db(parts_of, session, "tool")
    assert call["state"]["status"] == "error"
    assert call["state"]["error"].endswith(": nobody answered in time.")
    assert not await in_db(is_runnable, session)
    access = await in_db(session_access, alice, session)
    with pytest.raises(Conflict, match="nobody answered in time"):
        await in_db(reply_permission, access, request, reply="once")


@pytest.mark.usefixtures("timeout")
async def test_an_answer_behind_the_deadline_counts_until_somebody_settles_it(
    alice: User, session: Session
) -> None:
    await in_db(prompt, alice, session, ASKS)
    await drain(session)
    await in_db(pass_time, session)
    request = await in_db(PermissionRequest.objects.get, session=session)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="reject", message="use git rm")
    await drain(session)
    assert session.outcome == "done"


async def test_without_a_setting_a_request_waits_for_ever(
    alice: User, project: Project, session: Session
) -> None:
    project.config = {"permission": {"bash": "ask"}}
    await in_db(project.save)
    await in_db(prompt, alice, session, ASKS)
    await drain(session)
    assert (session.waits_for, session.wake_at) == ("person", None)
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert request.expires_at is None


def test_settings_with_senseless_limits_are_refused(subtests: pytest.Subtests) -> None:
    cases = [
        {"permission_timeout_s": 1},
        {"permission_timeout_s": "soon"},
        {"session_cost": "0"},
        {"session_cost": "-1"},
        {"session_cost": "a lot"},
        {"cost": "5"},
    ]
    for limits in cases:
        with subtests.test(limits=limits), pytest.raises(Invalid, match="limits"):
            parse_settings({"limits": limits})


@pytest.mark.usefixtures("timeout")
async def test_a_question_that_nobody_answers_in_time_ends_the_turn(
    alice: User, session: Session
) -> None:
    asked = {"question": "Which?", "header": "Which", "options": []}
    asks = script([{"tool": "question", "input": {"questions": [asked]}}])
    await in_db(prompt, alice, session, asks)
    await drain(session)
    request = await in_db(QuestionRequest.objects.get, session=session)
    assert request.expires_at is not None
    assert session.wake_at == request.expires_at
    assert not await in_db(is_runnable, session)

    def let_it_pass() -> None:
        moment = timezone.now().replace(microsecond=0) - timedelta(seconds=1)
        for kind in ("question.asked", "session.status"):
            event = session.events.filter(type=kind).order_by("seq").last()
            assert event is not None
            event.data["until"] = to_ms(moment)
            event.save()
        session.questions.update(expires_at=moment)
        Session.objects.filter(pk=session.pk).update(wake_at=moment)

    await in_db(let_it_pass)
    assert await in_db(is_runnable, session)
    await drain(session)
    await in_db(request.refresh_from_db)
    assert request.status == "expired"
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason["reason"] == "expired"
