from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from celery import current_app
from celery.app.task import Context
from celery.signals import before_task_publish, task_postrun, task_prerun
from django.test import Client

from opencode_web.lib.db import in_db
from opencode_web.lib.origin import Origin, current_origin, identify, originating
from teams.access import access_team
from teams.actions.invites import create_invite
from teams.audit import AuditAction, record
from teams.models import AuditEntry, Role, Team, User
from tests.factories import make_token, make_user

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
PASSWORD = "correct horse battery"
FIREFOX = "Mozilla/5.0 Firefox/140"


def newest(action: str) -> AuditEntry:
    return AuditEntry.objects.filter(action=action).latest("pk")


def sign_in(client: Client, email: str, password: str) -> int:
    form = {"login": email, "password": password}
    return client.post("/login", form, headers={"User-Agent": FIREFOX}).status_code


def test_sign_ins_failures_and_sign_outs_are_recorded(alice: User, client: Client) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    assert sign_in(client, alice.email, "wrong") == 422
    failed = newest("user.sign_in_failed")
    assert (failed.actor, failed.target_id, failed.told["account"]) == (
        None,
        str(alice.pk),
        alice.email,
    )
    assert sign_in(client, "nobody@example.com", PASSWORD) == 422
    assert newest("user.sign_in_failed").target_id == ""
    assert sign_in(client, alice.email, PASSWORD) == 302
    entry = newest("user.signed_in")
    assert (entry.actor, entry.ip, entry.client) == (alice, "127.0.0.1", FIREFOX)
    client.post("/logout")
    assert newest("user.signed_out").actor == alice
    assert PASSWORD not in str(list(AuditEntry.objects.values()))


def test_a_rejected_token_is_recorded_without_its_secret(alice: User, team: Team) -> None:
    token, secret = make_token(alice, team)
    wrong = f"{secret[:-1]}!"
    client = Client()
    assert client.get("/token", headers={"Authorization": f"Bearer {wrong}"}).status_code == 401
    assert newest("token.refused").told == {"account": token.prefix}
    assert client.get("/token", headers={"Authorization": "Bearer x"}).status_code == 401
    assert newest("token.refused").told == {"account": ""}


def test_the_denial_of_an_invitation_does_not_keep_its_secret(
    alice: User, team: Team, client_for: ClientFor
) -> None:
    access = access_team(alice, team.slug)
    _, secret = create_invite(access, role=Role.MEMBER, email="carol@example.com")
    stranger = client_for(make_user("eve@example.com"))
    assert stranger.post(f"/invite/{secret}").status_code == 403
    entry = AuditEntry.objects.get(action="access.denied")
    assert entry.data["path"] == "/invite/***"
    assert secret not in str(AuditEntry.objects.values())


def test_a_denial_is_recorded_whatever_is_in_its_path(
    bob: User, team: Team, client_for: ClientFor
) -> None:
    path = "/t/acme/settings/invites/a%00b/revoke"
    assert client_for(bob).post(path).status_code == 403
    entry = AuditEntry.objects.get(action="access.denied")
    assert str(entry.data["path"]).startswith("/t/acme/settings/invites/a")


def test_a_denial_is_recorded_once_with_what_was_missing(
    bob: User, team: Team, client_for: ClientFor
) -> None:
    client = client_for(bob)
    for _ in range(3):
        assert client.get("/t/acme/settings/audit?x=secret").status_code == 403
    entry = AuditEntry.objects.get(action="access.denied")
    assert (entry.actor, entry.team) == (bob, team)
    assert entry.data == {
        "method": "GET",
        "route": "/t/<slug:team>/settings/audit",
        "path": "/t/acme/settings/audit",
        "role": "admin",
    }
    body = {"url": "https://example.com/", "events": ["session.idle"]}
    answer = client.post("/webhook?team=acme", body, content_type="application/json")
    assert answer.status_code == 403
    assert newest("access.denied").data["route"] == "/webhook"


def test_an_address_that_is_none_is_left_out() -> None:
    assert Origin("unknown").ip is None
    assert Origin("fe80::1%eth0").ip == "fe80::1"
    assert Origin("::ffff:203.0.113.7").ip == "203.0.113.7"
    assert Origin(client="a\0" + "b" * 500).client == "a\ufffd" + "b" * 198


def test_work_that_others_asked_for_has_no_address(alice: User, bob: User, team: Team) -> None:
    with originating(Origin("203.0.113.7", "curl")):
        identify(alice.pk, token_id="tok_1")
        own = record(AuditAction.SKILL_SAVED, actor=alice, team=team)
        others = record(AuditAction.SKILL_SAVED, actor=bob, team=team)
    assert (own.ip, own.client, own.token) == ("203.0.113.7", "curl", "tok_1")
    assert (others.ip, others.client, others.token) == (None, "", "")


async def test_threads_of_a_request_have_its_origin() -> None:
    async def ask(ip: str) -> str | None:
        with originating(Origin(ip)):
            await asyncio.sleep(0)
            origin = await in_db(current_origin)
            return origin.ip if origin else None

    assert await asyncio.gather(ask("192.0.2.1"), ask("192.0.2.2")) == ["192.0.2.1", "192.0.2.2"]
    assert await in_db(current_origin) is None


def test_tasks_have_the_origin_of_the_request_that_sent_them() -> None:
    sent: list[dict[str, Any]] = []

    def note(headers: dict[str, Any], **_: Any) -> None:
        sent.append(headers)

    before_task_publish.connect(note, weak=False)
    try:
        with originating(Origin("192.0.2.1", "curl", 7, "tok_1")):
            current_app.send_task("tests.nothing")
        current_app.send_task("tests.nothing")
    finally:
        before_task_publish.disconnect(note)
    seen = []
    for headers in sent:
        # As a worker makes the request of a message.
        task = SimpleNamespace(request=Context(json.loads(json.dumps(headers))))
        task_prerun.send(sender="tests.nothing", task=task)
        seen.append(current_origin())
        task_postrun.send(sender="tests.nothing", task=task)
    assert seen == [Origin("192.0.2.1", "curl", 7, "tok_1"), None]
    assert current_origin() is None
