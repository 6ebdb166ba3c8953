"""What answers beside the comments is chosen on the page, by admins."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from sessions.models import Integration
from teams.models import AuditEntry, User
from tests.sessions.integrations.conftest import Forge

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("outside", ["github"], indirect=True),
]


def switches() -> tuple[bool, bool, bool]:
    row = Integration.objects.get()
    return row.checks, row.pulls, row.approves


def test_an_admin_switches_them_on_and_off(outside: Forge, alice: User) -> None:
    url = f"/t/acme/p/{outside.project.pk}/integration"
    assert switches() == (False, False, False)
    browser = Client()
    browser.force_login(alice)
    given = {"command": "/oc", "checks": "on", "pulls": "on", "approves": "on"}
    assert browser.post(url, given).status_code == 302
    assert switches() == (True, True, True)
    page = browser.get(url).content.decode()
    for name in ("checks", "pulls", "approves"):
        assert re.search(rf'name="{name}"[^>]* checked', page), name
    assert "Commit statuses: write" in page
    entry = AuditEntry.objects.filter(action="integration.updated").latest("id")
    assert {name: entry.data[name] for name in ("checks", "pulls", "approves")} == {
        "checks": True,
        "pulls": True,
        "approves": True,
    }
    assert browser.post(url, {"command": "/oc", "checks": "on"}).status_code == 302
    assert switches() == (True, False, False)


def test_a_member_does_not(outside: Forge, bob: User) -> None:
    browser = Client()
    browser.force_login(bob)
    url = f"/t/acme/p/{outside.project.pk}/integration"
    assert browser.post(url, {"command": "/oc", "approves": "on"}).status_code == 403
    assert switches() == (False, False, False)
