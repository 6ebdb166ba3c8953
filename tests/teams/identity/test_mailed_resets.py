from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

import pytest
from celery import current_app
from django.test import Client
from django.utils import timezone
from kombu.exceptions import OperationalError
from pytest_django import Settings

import teams.tasks  # noqa: F401 - registers the task
from opencode_web.checks import check_settings
from teams.actions.resets import create_reset
from teams.actions.services import create_service
from teams.models import AuditEntry, ResetLink, Role, Team, User
from tests.sessions.held_changes import of

pytestmark = pytest.mark.django_db
NEW = "another-good-passphrase"
ADDRESS = re.compile(r"https://agents.example.com(/login/reset/\S+)")


class Mailbox(socketserver.ThreadingTCPServer):
    """A mail server that keeps what it takes, or refuses every message."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Smtp)
        self.messages: list[Message] = []
        self.refuses = False


class _Smtp(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self.wfile.write(b"220 mail\r\n")
        for line in self.rfile:
            verb = line[:4].upper()
            if verb == b"DATA" and not self.server.refuses:
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                found = message_from_bytes(b"".join(lines), policy=default)
                self.server.messages.append(found)
            code = b"554 no" if self.server.refuses and verb == b"DATA" else b"250 ok"
            self.wfile.write((b"221 bye" if verb == b"QUIT" else code) + b"\r\n")


@pytest.fixture
def mailbox(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mailbox]:
    server = Mailbox()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.SMTP_URL = f"smtp+plain://127.0.0.1:{server.server_address[1]}"
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
    settings.PUBLIC_URL = settings.PUBLIC_ORIGIN = "https://agents.example.com"

    def run(name: str, args: list[str], **_: Any) -> None:
        current_app.tasks[name](*args)

    monkeypatch.setattr(current_app, "send_task", run)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def ask(client: Client, email: str) -> None:
    answer = client.post("/login/forgot", {"email": email}, follow=True)
    assert answer.status_code == 200
    # Nobody learns who has an account here.
    assert "If there is an account with this address" in answer.content.decode()


def test_a_link_comes_by_mail_and_sets_a_password_once(
    client: Client, alice: User, mailbox: Mailbox
) -> None:
    assert "/login/forgot" in client.get("/login").content.decode()
    ask(client, "Alice@Example.com")
    (mail,) = mailbox.messages
    assert (mail["to"], mail["from"]) == (alice.email, "opencode-web@localhost")
    assert mail["subject"] == "Reset your password for OpenCode Web"
    found = ADDRESS.search(mail.get_payload())
    assert found is not None
    entry = AuditEntry.objects.get(action="reset.created")
    assert (entry.actor, entry.target_id) == (None, str(alice.pk))
    assert client.post(found[1], {"password": NEW}).status_code == 302
    assert client.login(email=alice.email, password=NEW)
    assert client.post(found[1], {"password": NEW}).status_code == 404
    client.logout()
    ask(client, "nobody@example.com")
    assert len(mailbox.messages) == 1


def test_no_mail_for_who_has_no_password(
    client: Client, alice: User, bob: User, adam: User, team: Team, mailbox: Mailbox
) -> None:
    service = create_service(of(alice, team), name="ci", role=Role.MEMBER).user
    bob.set_unusable_password()
    bob.save()
    User.objects.filter(pk=adam.pk).update(is_active=False)
    for person in (service, bob, adam):
        ask(client, person.email)
    assert mailbox.messages == []
    assert not ResetLink.objects.exists()


def test_whoever_asks_for_others_neither_floods_them_nor_ends_their_links(
    client: Client, alice: User, mailbox: Mailbox
) -> None:
    secret = create_reset(alice, actor=None)
    ask(client, alice.email)
    assert mailbox.messages == []
    ResetLink.objects.update(created_at=timezone.now() - timedelta(minutes=6))
    for _ in range(3):
        ask(client, alice.email)
    assert len(mailbox.messages) == 1
    assert client.get(f"/login/reset/{secret}").status_code == 200
    codes = [client.post("/login/forgot", {"email": alice.email}).status_code for _ in range(3)]
    assert codes[-1] == 429
    assert client.post(f"/login/reset/{secret}", {"password": NEW}).status_code == 302
    # With the password every other link has ended, too.
    assert not ResetLink.objects.filter(used_at=None).exists()


def test_a_mail_that_cannot_be_sent_can_be_asked_for_again(
    client: Client, alice: User, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    mailbox.refuses = True
    ask(client, alice.email)
    assert f"mail.failed user={alice.pk} error=SMTPDataError" in caplog.text
    assert not ResetLink.objects.exists()
    mailbox.refuses = False
    ask(client, alice.email)
    assert len(mailbox.messages) == 1


def test_without_a_queue_it_says_so_and_without_a_mail_server_there_is_no_such_page(
    client: Client,
    alice: User,
    mailbox: Mailbox,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(current_app, "send_task", refuse)
    assert client.post("/login/forgot", {"email": alice.email}).status_code == 503
    assert client.post("/login/forgot", {"email": "alice"}).status_code == 422
    settings.SMTP_URL = ""
    assert client.get("/login/forgot").status_code == 404
    assert "Ask an operator" in client.get("/login").content.decode()


@pytest.mark.parametrize(
    ("url", "public", "is_good"),
    [
        ("smtp://u:p@mail.example.com:587", "https://agents.example.com", True),
        ("smtp://mail.example.com", "", False),
        ("https://mail.example.com", "https://agents.example.com", False),
        ("", "", True),
    ],
)
def test_a_mail_server_that_cannot_be_used_is_named_at_the_start(
    url: str, public: str, is_good: bool, settings: Settings
) -> None:
    settings.SMTP_URL, settings.PUBLIC_URL = url, public
    settings.EMAIL_HOST = "mail.example.com" if url else ""
    found = [one.id for one in check_settings(None)]
    assert ("opencode_web.E025" in found) is not is_good
