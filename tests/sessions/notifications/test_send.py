from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone
from pytest_django import Settings

from sessions.actions.change_requests import set_approvals, withdraw_request
from sessions.actions.permissions import ask_admins
from sessions.actions.privacy import set_private
from sessions.events.types import SessionStatus, SessionUpdated
from sessions.models import (
    Notification,
    PermissionRequest,
    Project,
    PushSubscription,
    Session,
)
from sessions.notifications import send as sending
from sessions.notifications.choices import ChannelChoice
from sessions.notifications.send import prune_notifications
from teams.actions.browsers import sign_out_browser
from teams.actions.tastes import remember_taste
from teams.models import BudgetNotice, Membership, Period, Role, Team, User
from tests.factories import add_member, make_user
from tests.sessions.factories import make_session, session_access
from tests.sessions.held_changes import KINDS, VALUE, ask, of, set_own
from tests.sessions.notifications.steps import ALL, choose, due_now, end, send, subscribe, wait
from tests.sessions.push_service import PushService
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example.com"
    settings.PUBLIC_URL = "https://agents.example.com"
    settings.PUBLIC_ORIGIN = "https://agents.example.com"


def test_a_browser_is_told_once_and_where_to_go(
    push_service: PushService, session: Session, alice: User
) -> None:
    write(session, SessionUpdated(title="Fix the till"))
    browser, _ = subscribe(push_service, alice)
    request = wait(session, alice, "echo top-secret")
    send()
    assert browser.got == [
        {
            "title": "Fix the till",
            "body": "Needs you",
            "url": f"/t/acme/s/{session.pk}#perm-{request}",
            "tag": f"row-{session.pk}",
        }
    ]
    [headers] = browser.headers
    assert headers["urgency"] == "high"
    assert (send(), Notification.objects.count()) == (0, 0)


def test_what_is_told_of_a_session(
    push_service: PushService, session: Session, alice: User, subtests: pytest.Subtests
) -> None:
    browser, _ = subscribe(push_service, alice)
    cases = [("done", "Done"), ("failed", "Failed"), ("interrupted", "Failed"), ("stopped", "")]
    for outcome, said in cases:
        with subtests.test(outcome=outcome):
            browser.got.clear()
            end(session, outcome)
            send()
            assert [one["body"] for one in browser.got] == [said] * bool(said)
    Story(session, alice).ask("hi")
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    asked = story.questions("Which?", "Red", "Blue")
    browser.got.clear()
    send()
    assert browser.got[0]["url"].endswith(f"#que-{asked}")


def test_only_those_are_told_whom_it_concerns(
    session: Session, alice: User, bob: User, vera: User, adam: User
) -> None:
    for user in (alice, bob, vera, adam):
        choose(user)
    Story(session, bob).ask("and this")
    write(session, SessionStatus(state="idle", outcome="done"))
    send()
    assert sorted(one.to[0] for one in mail.outbox) == [alice.email, bob.email]


def test_admins_are_told_when_they_are_asked(
    session: Session, project: Project, alice: User, bob: User, adam: User
) -> None:
    for user in (alice, bob, adam):
        choose(user)
    own = make_session(bob, project)
    request = wait(own, bob)
    PermissionRequest.objects.filter(pk=request).update(permission="budget")
    send()
    # He cannot answer it himself.
    assert mail.outbox == []
    ask_admins(session_access(bob, own), PermissionRequest.objects.get(pk=request))
    send()
    assert sorted(one.to[0] for one in mail.outbox) == [adam.email, alice.email]


def test_a_mail_says_titles_and_nothing_else(session: Session, alice: User) -> None:
    remember_taste(alice, key="language", value="de")
    choose(alice)
    write(session, SessionUpdated(title="Fix the\ntill"))
    request = wait(session, alice, "echo top-secret")
    send()
    [message] = mail.outbox
    assert message.subject == "Antwort nötig: Fix the till"
    assert f"https://agents.example.com/t/acme/s/{session.pk}#perm-{request}" in message.body
    assert "https://agents.example.com/me/notifications" in message.body
    assert "top-secret" not in message.body


def test_what_was_answered_is_no_news(session: Session, alice: User) -> None:
    choose(alice)
    request = wait(session, alice)
    Story(session, alice).replied(request)
    send()
    assert mail.outbox == []
    assert not Notification.objects.exists()


def test_who_loses_access_gets_nothing(
    push_service: PushService, session: Session, alice: User, bob: User, subtests: pytest.Subtests
) -> None:
    choose(bob)
    browser, _ = subscribe(push_service, bob)

    def leave() -> None:
        Membership.objects.filter(user=bob).delete()

    def hide() -> None:
        set_private(session_access(alice, session), private=True)

    def deactivate() -> None:
        User.objects.filter(pk=bob.pk).update(is_active=False)

    for lose in (hide, leave, deactivate):
        with subtests.test(lose.__name__):
            mail.outbox.clear()
            Story(session, bob).ask("hi")
            write(session, SessionStatus(state="idle", outcome="done"))
            # Addressed while bob had access.
            [new] = Notification.objects.all()
            sending.address(new)
            assert Notification.objects.filter(user=bob).count() == 2
            lose()
            send()
            assert [one for one in mail.outbox if one.to == [bob.email]] == []
            assert browser.got == []
            assert not Notification.objects.exists()
            Session.objects.update(is_private=False)


def test_a_browser_that_is_signed_out_gets_nothing(
    push_service: PushService, session: Session, alice: User
) -> None:
    browser, row = subscribe(push_service, alice)
    other, _ = subscribe(push_service, alice)
    end(session)
    sign_out_browser(alice, browser=row.pk)
    send()
    assert (len(browser.got), len(other.got)) == (0, 1)
    assert PushSubscription.objects.count() == 1
    # A password that is changed elsewhere signs out, too.
    alice.set_password("another long password")
    alice.save()
    end(session)
    send()
    assert len(other.got) == 1


def test_a_subscription_that_is_over_is_removed(
    push_service: PushService, session: Session, alice: User, subtests: pytest.Subtests
) -> None:
    for status in (404, 410):
        with subtests.test(status=status):
            subscribe(push_service, alice)
            push_service.refuses = [(status, {})]
            end(session)
            send()
            assert not PushSubscription.objects.exists()
            assert not Notification.objects.exists()


def test_a_busy_push_service_is_left_alone_as_long_as_it_asks(
    push_service: PushService, session: Session, alice: User
) -> None:
    browser, _ = subscribe(push_service, alice)
    push_service.refuses = [(429, {"retry_after": "7200"}), (503, {})]
    end(session)
    send()
    row = Notification.objects.get()
    assert timedelta(seconds=7100) < row.next_at - timezone.now() <= timedelta(seconds=7200)
    due_now()
    send()
    assert timezone.now() < Notification.objects.get().next_at
    due_now()
    send()
    assert len(browser.got) == 1
    assert not Notification.objects.exists()


def test_what_cannot_be_sent_is_given_up(
    push_service: PushService, session: Session, alice: User
) -> None:
    subscribe(push_service, alice)
    push_service.refuses = [(413, {})]
    end(session)
    send()
    row = Notification.objects.get()
    assert (row.state, row.problem) == ("failed", "The push service responded with status 413.")
    due_now()
    assert (send(), prune_notifications()) == (0, 0)
    Notification.objects.update(created_at=timezone.now() - sending.KEPT_FOR * 2)
    assert prune_notifications() == 1


def test_quiet_hours_end_with_one_message(
    session: Session, project: Project, alice: User, bob: User
) -> None:
    now = timezone.now()
    quiet = {
        "quiet_from": (now - timedelta(hours=1)).time().replace(second=0, microsecond=0),
        "quiet_until": (now + timedelta(hours=1)).time().replace(second=0, microsecond=0),
    }
    choose(alice, **quiet)
    other = make_session(alice, project)
    write(session, SessionUpdated(title="First"))
    write(other, SessionUpdated(title="Second"))
    end(session, "failed")
    end(session)
    request = wait(other, alice)
    send()
    assert mail.outbox == []
    assert {row.is_held for row in Notification.objects.all()} == {True}
    # They are over.
    choose(alice)
    due_now()
    send()
    [message] = mail.outbox
    assert message.subject == "2 notifications"
    assert "Done: First" in message.body
    assert "Failed" not in message.body
    assert f"/t/acme/s/{other.pk}#perm-{request}" in message.body
    assert not Notification.objects.exists()


def test_what_waits_to_be_tried_again_is_held_back_in_quiet_hours(
    push_service: PushService, session: Session, alice: User
) -> None:
    browser, _ = subscribe(push_service, alice)
    push_service.refuses = [(503, {})]
    end(session)
    send()
    now = timezone.now()
    choose(
        alice,
        quiet_from=(now - timedelta(hours=1)).time(),
        quiet_until=(now + timedelta(hours=1)).time(),
    )
    due_now()
    send()
    assert browser.got == []
    assert Notification.objects.get().is_held


def test_a_channel_can_bring_all_of_a_day_at_once(session: Session, alice: User) -> None:
    choose(alice, channels={"email": ChannelChoice(ALL, is_daily=True)})
    end(session)
    send()
    [row] = Notification.objects.all()
    assert row.is_held
    due_now()
    send()
    assert [one.subject for one in mail.outbox] == ["Done: New session"]
    assert not Notification.objects.exists()


def test_what_was_claimed_by_a_worker_that_died_is_sent_later(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(alice)
    end(session)
    rows = sending._claim()
    assert len(rows) == 1
    assert send() == 0
    due_now()
    send()
    send()
    assert len(mail.outbox) == 1


def test_one_that_crashes_holds_up_no_other(
    session: Session, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in (alice, bob):
        choose(user)
    Story(session, bob).ask("hi")
    write(session, SessionStatus(state="idle", outcome="done"))
    compose = sending.compose

    def crash(rows: Any, user: User, channel: Any) -> Any:
        if user == alice:
            raise RuntimeError
        return compose(rows, user, channel)

    monkeypatch.setattr(sending, "compose", crash)
    send()
    assert [one.to for one in mail.outbox] == [[bob.email]]
    assert Notification.objects.get().user == alice


def test_budgets_are_told_to_whom_they_concern(
    team: Team, alice: User, bob: User, bill: User, vera: User
) -> None:
    for user in (alice, bob, bill, vera):
        choose(user)
    BudgetNotice.objects.create(
        team=team,
        user=bob,
        start=Period.MONTH.first_day(),
        threshold=80,
        spent=8,
        limit=10,
        time=timezone.now(),
    )
    send()
    assert sorted(one.to[0] for one in mail.outbox) == [alice.email, bill.email, bob.email]
    assert mail.outbox[0].subject == "Acme: 80% of a budget is spent"
    assert "/t/acme/settings/budgets" in mail.outbox[0].body
    send()
    assert len(mail.outbox) == 3


def test_second_persons_are_told_of_a_change_that_waits_for_them(
    team: Team, project: Project, alice: User, adam: User, bob: User
) -> None:
    set_approvals(of(alice, team), KINDS)
    for user in (alice, adam, bob):
        choose(user)
    row = ask(lambda: set_own(adam, project))
    send()
    [message] = mail.outbox
    assert message.to == [alice.email]
    assert message.subject == "Acme: Adam asks for approval (Secrets)"
    assert f"/t/acme/settings/approvals#{row.pk}" in message.body
    assert VALUE not in message.body
    withdraw_request(of(adam, team), ask(lambda: set_own(adam, project)))
    send()
    assert (len(mail.outbox), Notification.objects.count()) == (1, 0)


def test_without_a_mail_server_nothing_waits(
    session: Session, alice: User, settings: Settings
) -> None:
    settings.EMAIL_HOST = ""
    choose(alice)
    end(session)
    send()
    assert not Notification.objects.exists()


def test_service_accounts_are_told_nothing(team: Team, session: Session) -> None:
    robot = make_user("robot@example.com")
    add_member(team, robot, Role.MEMBER)
    User.objects.filter(pk=robot.pk).update(service_of=team)
    choose(robot)
    Story(session, robot).ask("hi")
    write(session, SessionStatus(state="idle", outcome="done"))
    send()
    assert mail.outbox == []
