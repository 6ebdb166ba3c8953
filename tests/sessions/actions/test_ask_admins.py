from __future__ import annotations

from decimal import Decimal

import pytest

from opencode_web.lib.errors import Conflict, Invalid
from sessions.actions.permissions import ask_admins, reply_permission
from sessions.events.types import PermissionAsked
from sessions.models import AdminsAsked, PermissionRequest, Session
from sessions.present.frame.rail import build_rows
from teams.audit import AuditAction
from teams.models import AuditEntry, User
from tests.sessions.factories import session_access
from tests.sessions.story import write

pytestmark = pytest.mark.django_db


def asked(session: Session, permission: str) -> PermissionRequest:
    amounts = {name: str(Decimal(5)) for name in ("spent", "limit", "amount")}
    event = PermissionAsked(
        id=f"per_{permission}",
        message_id="msg_1",
        call_id="",
        agent="build",
        permission=permission,
        patterns=["*"],
        always=[],
        metadata=amounts,
    )
    write(session, event)
    return session.permissions.get(pk=event.id)


def test_admins_are_asked_once_and_their_list_says_by_whom(
    session: Session, alice: User, bob: User
) -> None:
    request, access = asked(session, "budget"), session_access(bob, session)
    Session.objects.filter(pk=session.pk).update(state="waiting")
    ask_admins(access, request)
    ask_admins(session_access(alice, session), request)
    assert AdminsAsked.objects.get().asked_by == bob
    assert AuditEntry.objects.filter(action=AuditAction.PERMISSION_ADMINS_ASKED).count() == 1
    (row,) = build_rows([Session.objects.get(pk=session.pk)])
    assert row.asked.asks_admins
    assert row.detail == "Bob asks the admins · Cost limit: $5.00 of $5.00"

    reply_permission(session_access(alice, session), request, reply="once")
    with pytest.raises(Conflict, match="Already answered: Alice"):
        ask_admins(access, request)


def test_what_members_can_answer_is_not_asked_of_admins(session: Session, bob: User) -> None:
    with pytest.raises(Invalid, match="yourself"):
        ask_admins(session_access(bob, session), asked(session, "bash"))
