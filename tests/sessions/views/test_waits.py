from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.ids import new_id
from sessions.events.messages import MessageError
from sessions.events.parts import RetryPart
from sessions.events.types import PartUpdated, PermissionAsked, SessionStatus
from sessions.models import Session
from sessions.wire import to_ms
from teams.models import User
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def fail_once(session: Session, alice: User, *, in_s: int) -> int:
    until = to_ms(timezone.now() + timedelta(seconds=in_s))
    story = Story(session, alice)
    story.ask("go")
    story.answer()
    message = session.messages.get(role="assistant")
    error = MessageError(name="APIError", data={"message": "Overloaded", "isRetryable": True})
    part = RetryPart(
        id=new_id("prt"),
        sessionID=session.pk,
        messageID=message.pk,
        attempt=1,
        error=error,
        time={"created": until, "next": until},
    )
    status = SessionStatus(
        state="busy", waits_for="retry", until=until, attempt=1, detail="Overloaded"
    )
    write(session, PartUpdated(part=part), status)
    return until


def ask(session: Session, **fields: object) -> None:
    asked = {
        "id": new_id("per"),
        "message_id": "msg_1",
        "call_id": "",
        "agent": "build",
        "patterns": ["*"],
        "always": [],
        "metadata": {},
        **fields,
    }
    write(session, PermissionAsked.model_validate(asked))


def page(client_for: ClientFor, user: User, session: Session) -> str:
    return client_for(user).get(f"/t/acme/s/{session.pk}").content.decode()


def test_a_wait_for_the_next_try_is_counted_down_and_cut_short(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail_once(session, alice, in_s=20)
    html = page(client_for, alice, session)
    status = html.split(f'id="status-{session.pk}"')[1].split("</span></span>")[0]
    assert "Retrying in" in status
    assert status.count("data-countdown") >= 1
    assert "Overloaded." in html
    assert "Attempt 1 of 6 failed" in html
    url = f"/t/acme/s/{session.pk}/retry"
    assert f'action="{url}"' in html
    answer = client_for(alice).post(url, headers={"HX-Request": "true"})
    assert answer.status_code == 204
    session.refresh_from_db()
    assert session.wake_at <= timezone.now()
    assert session.attempt == 1


def test_nothing_is_offered_once_something_came_after_it(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail_once(session, alice, in_s=20)
    write(session, SessionStatus(state="idle", outcome="done"))
    Story(session, alice).ask("next")
    assert "Retrying in" not in page(client_for, alice, session)
    answer = client_for(alice).post(f"/t/acme/s/{session.pk}/retry")
    assert answer.status_code == 302
    session.refresh_from_db()
    assert session.wake_at is None


def test_a_card_says_how_much_time_is_left(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    Story(session, alice).ask("go")
    until = timezone.now() + timedelta(minutes=5)
    ask(session, permission="bash", call_id="call_1", until=to_ms(until))
    write(session, SessionStatus(state="waiting", waits_for="person", until=to_ms(until)))
    html = page(client_for, alice, session)
    card = html.split('<section id="perm-per')[1].split("</section>")[0]
    assert "Time left <time" in card
    assert "data-countdown" in card


def test_a_cost_limit_asks_in_exact_words_and_offers_more_to_admins(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    Story(session, alice).ask("go")
    amounts = {"spent": str(Decimal("5.0200000001")), "limit": "5.00", "amount": "5.00"}
    ask(session, permission="budget", metadata=amounts)
    write(session, SessionStatus(state="waiting", waits_for="budget"))
    html = page(client_for, alice, session)
    card = html.split('<section id="perm-per')[1].split("</section>")[0]
    assert "This session has used $5.02 of its $5.00. Continue with another $5.00?" in card
    assert 'data-needs="admin"' in card
    assert "Continue <kbd" in card
    assert 'name="message"' not in card
