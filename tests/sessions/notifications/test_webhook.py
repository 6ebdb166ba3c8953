from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.crypto import encrypt
from sessions.actions.deliveries import DISABLED_AFTER
from sessions.actions.notifications import (
    remove_own_webhook,
    rotate_own_secret,
    save_own_webhook,
)
from sessions.actions.privacy import set_private
from sessions.events.types import SessionUpdated
from sessions.models import Notification, OwnWebhook, Session
from sessions.notifications.choices import ChannelChoice
from teams.models import BudgetNotice, Period, Team, User
from tests.sessions.factories import session_access
from tests.sessions.notifications.steps import ALL, choose, due_now, end, send, wait
from tests.sessions.story import Story, write
from tests.sessions.webhook_receiver import Receiver, receive

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.PUBLIC_ORIGIN = settings.PUBLIC_URL = "https://agents.example.com"
    with receive() as running:
        yield running


def hook(user: User, receiver: Receiver) -> str:
    return save_own_webhook(user, url=f"{receiver.address}/in")


def told(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(body) for _, body in receiver.got]


def verify(secret: str, headers: dict[str, str], body: bytes) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == f"v1,{digest}"


def test_the_person_is_told_signed_and_where_to_go(
    receiver: Receiver, session: Session, team: Team, alice: User
) -> None:
    secret = hook(alice, receiver)
    write(session, SessionUpdated(title="Fix the till"))
    request = wait(session, alice, "echo top-secret")
    send()
    [(headers, body)] = receiver.got
    assert verify(secret, headers, body)
    message = json.loads(body)
    assert (message["type"], message["id"]) == ("notification", headers["webhook-id"])
    url = f"https://agents.example.com/t/acme/s/{session.pk}#perm-{request}"
    line = {
        "kind": "asks",
        "text": "Needs you: Fix the till",
        "url": url,
        "team": {"id": team.pk, "slug": "acme"},
        "session": {"id": session.pk},
    }
    assert message["data"] == {"text": line["text"], "url": url, "notifications": [line]}
    assert (send(), Notification.objects.count()) == (0, 0)
    fresh = rotate_own_secret(alice)
    end(session)
    send()
    headers, body = receiver.got[1]
    assert (verify(fresh, headers, body), verify(secret, headers, body)) == (True, False)


def test_a_digest_is_one_message(
    receiver: Receiver, session: Session, team: Team, alice: User
) -> None:
    hook(alice, receiver)
    choose(alice, channels={"webhook": ChannelChoice(ALL, is_daily=True)})
    end(session)
    BudgetNotice.objects.create(
        team=team,
        start=Period.MONTH.first_day(),
        threshold=80,
        spent=8,
        limit=10,
        time=timezone.now(),
    )
    send()
    due_now()
    send()
    [message] = told(receiver)
    assert message["data"]["text"] == "2 notifications"
    assert message["data"]["url"] == "https://agents.example.com/t/acme/inbox"
    kinds = [(one["kind"], one["session"]) for one in message["data"]["notifications"]]
    assert kinds == [("ends", {"id": session.pk}), ("budget", None)]


def test_what_fails_is_tried_again_under_its_id(
    receiver: Receiver, session: Session, alice: User
) -> None:
    hook(alice, receiver)
    receiver.status = 503
    end(session)
    send()
    row = Notification.objects.get()
    assert row.problem == "The server responded with status 503."
    assert OwnWebhook.objects.get().failing_since is not None
    receiver.status = 204
    due_now()
    send()
    ids = {headers["webhook-id"] for headers, _ in receiver.got}
    assert (len(receiver.got), len(ids)) == (2, 1)
    assert OwnWebhook.objects.get().failing_since is None
    assert not Notification.objects.exists()


def test_an_address_that_is_dead_for_days_is_left_alone(
    receiver: Receiver, session: Session, alice: User
) -> None:
    hook(alice, receiver)
    receiver.status = 302
    old = timezone.now() - DISABLED_AFTER - timedelta(minutes=1)
    OwnWebhook.objects.update(failing_since=old)
    end(session)
    send()
    assert OwnWebhook.objects.get().disabled_at is not None
    receiver.status = 204
    due_now()
    send()
    end(session)
    send()
    assert len(receiver.got) == 1
    assert not Notification.objects.exists()


def test_who_may_not_see_it_any_more_is_told_nothing(
    receiver: Receiver, session: Session, alice: User, bob: User
) -> None:
    hook(bob, receiver)
    Story(session, bob).ask("hi")
    set_private(session_access(alice, session), private=True)
    end(session)
    send()
    assert receiver.got == []
    assert not Notification.objects.exists()


def test_nothing_is_sent_once_the_webhook_is_deleted(
    receiver: Receiver, session: Session, alice: User
) -> None:
    hook(alice, receiver)
    receiver.status = 503
    end(session)
    send()
    remove_own_webhook(alice)
    due_now()
    send()
    assert len(receiver.got) == 1
    assert not Notification.objects.exists()


def test_a_private_address_is_not_reached(
    receiver: Receiver, session: Session, alice: User, settings: Settings
) -> None:
    hook(alice, receiver)
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    end(session)
    send()
    assert receiver.got == []
    assert "private address" in Notification.objects.get().problem


def test_a_secret_of_another_key_is_a_problem_that_can_be_mended(
    receiver: Receiver, session: Session, alice: User
) -> None:
    hook(alice, receiver)
    OwnWebhook.objects.update(secret=encrypt("x")[:-4])
    end(session)
    send()
    assert "Make a new one" in Notification.objects.get().problem
    rotate_own_secret(alice)
    due_now()
    send()
    assert len(receiver.got) == 1
