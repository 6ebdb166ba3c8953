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

from opencode_web.lib.errors import AppError, Conflict, Forbidden, Invalid
from opencode_web.lib.loop import submit
from opencode_web.lib.outbound import NO_ANSWER
from opencode_web.lib.reasons import Cause
from sessions.actions import deliveries
from sessions.actions.deliveries import claim_deliveries, prune_deliveries
from sessions.actions.webhooks import (
    create_webhook,
    delete_webhook,
    ping_webhook,
    redeliver,
    rotate_secret,
    update_webhook,
)
from sessions.events.outbox import Happening
from sessions.events.reasons import TurnReason
from sessions.events.types import SessionStatus
from sessions.jobs.webhooks import send_due
from sessions.models import Project, Session, Webhook, WebhookDelivery
from sessions.runner import run_session
from teams.access import TeamAccess, access_team
from teams.models import AuditEntry, Team, User
from tests.factories import make_team
from tests.sessions.factories import make_project, make_session, prompt, script
from tests.sessions.story import Story, write
from tests.sessions.webhook_receiver import Receiver, receive

ALL = [one.value for one in Happening if one is not Happening.AUDIT]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receive() as running:
        yield running


@pytest.fixture
def access(adam: User) -> TeamAccess:
    return access_team(adam, "acme")


def hook_to(access: TeamAccess, receiver: Receiver, **more: Any) -> tuple[Webhook, str]:
    return create_webhook(access, url=f"{receiver.address}/in", events=ALL, **more)


def send() -> int:
    return submit(send_due()).result(60)


def due_now() -> None:
    WebhookDelivery.objects.update(next_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.django_db(transaction=True)
def test_a_turn_is_told_signed_and_once(
    access: TeamAccess, alice: User, session: Session, receiver: Receiver, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://agents.example.com"
    hook, secret = hook_to(access, receiver)
    prompt(alice, session, script([{"text": "The secret word."}]))
    submit(run_session(session.pk)).result(30)
    assert send() == 1
    [(headers, body)] = receiver.got
    told = json.loads(body)
    assert told["type"] == "session.idle"
    assert told["data"]["outcome"] == "done"
    assert told["session"]["id"] == session.pk
    assert told["session"]["url"] == f"https://agents.example.com/t/acme/s/{session.pk}"
    assert told["project"]["id"] == session.project_id
    assert "secret word" not in body.decode()
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{mac}"
    assert headers["content-type"] == "application/json"
    row = WebhookDelivery.objects.get()
    assert (row.pk, row.state, row.status, row.attempts) == (told["id"], "delivered", 204, 1)
    assert send() == 0
    assert secret not in hook.secret


@pytest.mark.django_db
def test_what_is_told(access: TeamAccess, alice: User, project: Project, session: Session) -> None:
    create_webhook(access, url="http://127.0.0.1/", events=ALL)
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    story.waits("rm -rf secret")
    story.questions("Which colour?", "Red", "Blue")
    told = [(row.event, row.payload["data"]) for row in WebhookDelivery.objects.order_by("pk")]
    assert [name for name, _ in told] == ["permission.asked", "question.asked"]
    assert told[0][1]["permission"] == "bash"
    assert told[0][1]["sessionID"] == session.pk
    assert told[1][1]["questions"] == 1
    assert "secret" not in json.dumps(told)
    assert "colour" not in json.dumps(told)


@pytest.mark.django_db
def test_a_failure_is_told_as_one(
    access: TeamAccess, alice: User, session: Session, project: Project
) -> None:
    create_webhook(access, url="http://127.0.0.1/", events=ALL)
    write(session, SessionStatus(state="busy"))
    write(session, SessionStatus(state="idle", outcome="failed", detail="x" * 900))
    write(session, SessionStatus(state="idle", outcome="failed"))
    rows = list(WebhookDelivery.objects.order_by("pk"))
    assert [row.event for row in rows] == ["session.error", "session.idle"]
    assert len(rows[0].payload["data"]["detail"]) == 500
    child = make_session(alice, project, parent=session)
    write(child, SessionStatus(state="busy"))
    write(child, SessionStatus(state="idle", outcome="done"))
    assert WebhookDelivery.objects.count() == 2


@pytest.mark.django_db
def test_an_end_by_this_server_is_told_in_english(
    access: TeamAccess, alice: User, session: Session
) -> None:
    create_webhook(access, url="http://127.0.0.1/", events=ALL)
    write(session, SessionStatus(state="busy"))
    limit = Cause(TurnReason.STEP_LIMIT, {"limit": 7})
    write(session, SessionStatus(state="idle", outcome="stopped").saying(limit))
    detail = WebhookDelivery.objects.get().payload["data"]["detail"]
    assert detail.startswith("Stopped after 7 steps")


@pytest.mark.django_db
def test_who_is_told(
    access: TeamAccess, alice: User, charlie: User, session: Session, tmp_path: Any
) -> None:
    other = make_project(access.team, tmp_path / "other", name="other")
    wanted = {
        "all": create_webhook(access, url="http://127.0.0.1/1", events=ALL)[0],
        "of it": create_webhook(
            access, url="http://127.0.0.1/2", events=ALL, project=session.project
        )[0],
    }
    create_webhook(access, url="http://127.0.0.1/3", events=["session.idle"])
    create_webhook(access, url="http://127.0.0.1/4", events=ALL, project=other)
    off = create_webhook(access, url="http://127.0.0.1/5", events=ALL)[0]
    update_webhook(access, off, enabled=False)
    create_webhook(access_team(charlie, "globex"), url="http://127.0.0.1/6", events=ALL)
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    story.waits("ls")
    told = {row.webhook_id for row in WebhookDelivery.objects.all()}
    assert told == {hook.pk for hook in wanted.values()}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (500, "The server responded with status 500."),
        (302, "Redirects are not followed"),
        (404, "The server responded with status 404."),
    ],
)
def test_what_fails_is_tried_again_later(
    access: TeamAccess, receiver: Receiver, status: int, problem: str
) -> None:
    hook, _ = hook_to(access, receiver)
    receiver.status = status
    row = ping_webhook(access, hook)
    assert send() == 1
    row.refresh_from_db()
    assert (row.state, row.attempts, row.status) == ("pending", 1, status)
    assert problem in row.problem
    assert timedelta(seconds=5) < row.next_at - timezone.now() < timedelta(seconds=11)
    assert send() == 0
    hook.refresh_from_db()
    assert hook.failing_since is not None
    receiver.status = 200
    due_now()
    assert send() == 1
    row.refresh_from_db()
    hook.refresh_from_db()
    assert (row.state, row.attempts, row.problem, hook.failing_since) == ("delivered", 2, "", None)
    assert {headers["webhook-id"] for headers, _ in receiver.got} == {row.pk}


@pytest.mark.django_db(transaction=True)
def test_after_all_tries_it_is_given_up_and_can_be_sent_again(
    access: TeamAccess, receiver: Receiver
) -> None:
    hook, _ = hook_to(access, receiver)
    row = ping_webhook(access, hook)
    with pytest.raises(Conflict, match="still waiting"):
        redeliver(access, hook, row)
    WebhookDelivery.objects.update(attempts=len(deliveries.BACKOFF_S))
    receiver.status = 500
    send()
    row.refresh_from_db()
    assert row.state == "failed"
    receiver.status = 200
    redeliver(access, hook, row)
    assert send() == 1
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("delivered", 1)


@pytest.mark.django_db(transaction=True)
def test_after_days_without_a_delivery_it_is_switched_off(
    access: TeamAccess, receiver: Receiver
) -> None:
    hook, _ = hook_to(access, receiver)
    receiver.status = 500
    first, second = ping_webhook(access, hook), ping_webhook(access, hook)
    send()
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=4))
    WebhookDelivery.objects.filter(pk=first.pk).update(next_at=timezone.now())
    send()
    hook.refresh_from_db()
    assert "for 3 days" in hook.disabled_reason
    assert AuditEntry.objects.filter(action="webhook.disabled", actor=None).count() == 1
    second.refresh_from_db()
    assert (second.state, second.problem) == ("failed", "The webhook was switched off.")
    with pytest.raises(Conflict, match="turned off"):
        ping_webhook(access, hook)
    update_webhook(access, hook, enabled=True)
    receiver.status = 200
    ping_webhook(access, Webhook.objects.get())
    assert send() == 1


@pytest.mark.django_db(transaction=True)
def test_an_attempt_that_died_with_its_worker_is_made_again(
    access: TeamAccess, receiver: Receiver
) -> None:
    hook, _ = hook_to(access, receiver)
    ping_webhook(access, hook)
    [lost] = claim_deliveries(10)
    assert claim_deliveries(10) == []
    due_now()
    assert send() == 1
    assert [headers["webhook-id"] for headers, _ in receiver.got] == [lost.id]
    # What the dead one has to say after all changes nothing.
    deliveries.settle_delivery(lost, deliveries.Result(500, "late"))
    assert WebhookDelivery.objects.get().state == "delivered"


@pytest.mark.django_db(transaction=True)
def test_no_private_address_is_reached(
    access: TeamAccess, receiver: Receiver, settings: Any
) -> None:
    hook, _ = hook_to(access, receiver)
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    row = ping_webhook(access, hook)
    send()
    row.refresh_from_db()
    assert NO_ANSWER in row.problem
    assert receiver.got == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://example.com/", "start with https"),
        ("https://127.0.0.1/", "unless an operator allows"),
        ("https://[::1]/", "unless an operator allows"),
        ("https://169.254.169.254/", "metadata"),
        ("https://user:pw@example.com/", "user name or password"),
        ("ftp://example.com/", "must start with http"),
        ("https://exa mple.com/", "space"),
        ("https://example.com/" + "x" * 2_000, "at most"),
        ("", "must start with http"),
    ],
)
def test_an_address_has_to_be_usable(
    access: TeamAccess, url: str, said: str, settings: Any
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    with pytest.raises(Invalid, match=said):
        create_webhook(access, url=url, events=ALL)


@pytest.mark.django_db
@pytest.mark.parametrize("events", [[], ["nothing"], [*ALL, "session.*"]])
def test_events_have_to_be_known(access: TeamAccess, events: list[str]) -> None:
    with pytest.raises(Invalid, match=r"session\.idle, session\.error"):
        create_webhook(access, url="https://example.com", events=events)


@pytest.mark.django_db
def test_a_project_of_another_team_is_refused(
    access: TeamAccess, charlie: User, tmp_path: Any
) -> None:
    foreign = make_project(Team.objects.get(slug="globex"), tmp_path / "foreign")
    with pytest.raises(Invalid, match="another team"):
        create_webhook(access, url="https://example.com", events=ALL, project=foreign)


@pytest.mark.django_db
def test_only_admins_change_webhooks(access: TeamAccess, bob: User) -> None:
    hook, _ = create_webhook(access, url="https://example.com/token", events=ALL)
    member = access_team(bob, "acme")
    acts: list[Any] = [
        lambda: create_webhook(member, url="https://example.com", events=ALL),
        lambda: update_webhook(member, hook, enabled=False),
        lambda: rotate_secret(member, hook),
        lambda: ping_webhook(member, hook),
        lambda: delete_webhook(member, hook),
    ]
    for act in acts:
        with pytest.raises(Forbidden):
            act()


@pytest.mark.django_db
def test_the_audit_trail_has_neither_secret_nor_path(access: TeamAccess) -> None:
    hook, secret = create_webhook(access, url="https://example.com/token", events=ALL)
    _, second = rotate_secret(access, hook)
    assert second != secret
    delete_webhook(access, hook)
    entries = AuditEntry.objects.filter(action__startswith="webhook.").order_by("pk")
    assert [one.action for one in entries] == [
        "webhook.created",
        "webhook.updated",
        "webhook.deleted",
    ]
    written = json.dumps([one.data for one in entries])
    assert "example.com" in written
    assert "token" not in written
    assert "whsec_" not in written


@pytest.mark.django_db
def test_a_team_has_a_bounded_number(access: TeamAccess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.actions.webhooks.MAX_WEBHOOKS", 1)
    create_webhook(access, url="https://example.com", events=ALL)
    with pytest.raises(AppError, match="at most 1 webhooks"):
        create_webhook(access, url="https://example.com", events=ALL)


@pytest.mark.django_db
def test_old_deliveries_go(access: TeamAccess) -> None:
    hook, _ = create_webhook(access, url="https://example.com", events=ALL)
    kept, old = ping_webhook(access, hook), ping_webhook(access, hook)
    long_ago = timezone.now() - timedelta(days=15)
    WebhookDelivery.objects.filter(pk=old.pk).update(state="delivered", created_at=long_ago)
    WebhookDelivery.objects.filter(pk=kept.pk).update(created_at=long_ago)
    assert prune_deliveries() == 1
    assert WebhookDelivery.objects.get() == kept


@pytest.mark.django_db
def test_a_team_that_goes_takes_them_along(alice: User) -> None:
    team = make_team(alice, name="Gone", slug="gone")
    access = access_team(alice, "gone")
    hook, _ = create_webhook(access, url="https://example.com", events=ALL)
    ping_webhook(access, hook)
    Team.objects.filter(pk=team.pk).delete()
    assert not WebhookDelivery.objects.exists()
