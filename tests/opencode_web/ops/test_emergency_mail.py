"""Owners who look at no page are told by mail that an operator got into their team."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from celery import current_app
from django.core import mail
from django.test import Client
from django.utils.formats import date_format
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

import teams.tasks  # noqa: F401 - registers the task
from teams.models import AuditEntry, Membership, Team, User
from tests.opencode_web.ops.test_emergency import PAGE, REASON, enter

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def tasks(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    settings.SMTP_URL = "smtp+plain://127.0.0.1:1"
    settings.PUBLIC_URL = settings.PUBLIC_ORIGIN = "https://agents.example.com"
    sent: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.append((name, args)))
    return sent


def test_owners_get_a_mail_although_it_has_ended(
    console: Client,
    root: User,
    team: Team,
    alice: User,
    tasks: list[tuple[str, list[str]]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        enter(console, team)
    console.post(f"{PAGE}/{Membership.objects.get(user=root).pk}/end")
    ((name, args),) = tasks
    current_app.tasks[name](*args)
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == ([alice.email], "Emergency access to Acme")
    text = str(sent.body)
    assert f"The operator {root.email} has emergency access to Acme until" in text
    assert f"(Viewer): {REASON}" in text
    assert "https://agents.example.com/t/acme/settings/members" in text


def test_no_mail_without_a_mail_server_and_no_failure_without_a_broker(
    console: Client,
    team: Team,
    settings: Settings,
    tasks: list[tuple[str, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.SMTP_URL = ""
    with django_capture_on_commit_callbacks(execute=True):
        enter(console, team)
    assert tasks == []
    Membership.objects.filter(expires_at__isnull=False).delete()
    settings.SMTP_URL = "smtp+plain://127.0.0.1:1"

    def away(*_: Any, **__: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(current_app, "send_task", away)
    with django_capture_on_commit_callbacks(execute=True):
        enter(console, team)
    assert Membership.objects.filter(expires_at__isnull=False).exists()


def test_the_audit_log_says_the_role_and_the_time_in_words(
    console: Client, team: Team, alice: User, client_for: ClientFor
) -> None:
    enter(console, team, role="admin")
    entry = AuditEntry.objects.get(action="emergency.began", team=team)
    shown = client_for(alice).get("/t/acme/settings/audit").content.decode()
    until = datetime.fromisoformat(entry.told["until"])
    assert f" as admin until {date_format(until, 'DATETIME_FORMAT')} UTC. Reason: " in shown
