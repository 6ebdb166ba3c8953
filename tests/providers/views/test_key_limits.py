from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from providers import actions
from providers.models import Credential, ProviderConfig
from teams.models import AuditEntry, Team, User
from tests.providers.factories import make_openai
from tests.providers.views.test_pages import admin as admin
from tests.providers.views.test_pages import url


def limits(key: Credential) -> str:
    return url("key_limits", "openai", credential=key.pk)


def sent(key: Credential, **fields: str) -> dict[str, str]:
    return {f"key-{key.pk}-{name}": value for name, value in fields.items()}


def test_an_admin_limits_one_of_several_keys(admin: Client, team: Team, alice: User) -> None:
    row = make_openai(team)
    second = actions.add_key(row, actor=alice, key="sk-second-abcdefgh-1234", label="Second")
    page = admin.get(url("provider", "openai")).content.decode()
    assert "•••• 1234" in page
    assert "sk-second" not in page
    admin.post(limits(second), sent(second, max_calls="3", tokens_per_minute=""))
    second.refresh_from_db()
    assert (second.max_calls, second.tokens_per_minute) == (3, None)
    assert not row.credentials.earliest("pk").has_limits
    wrong = admin.post(limits(second), sent(second, max_calls="0"))
    assert wrong.status_code == 422
    newest = AuditEntry.objects.filter(action="provider.updated").latest("pk")
    assert (newest.data["key"], newest.data["max_calls"]) == ("limited", 3)


def test_a_key_of_another_team_is_not_found(admin: Client, team: Team) -> None:
    make_openai(team)
    other = Team.objects.create(name="Other", slug="other-one", id="team_other_one")
    key = make_openai(other).credentials.get()
    assert admin.post(limits(key), sent(key, max_calls="3")).status_code == 404
    key.refresh_from_db()
    assert not key.has_limits


@pytest.mark.parametrize(
    ("person", "status"), [("bob", 403), ("vera", 403), ("charlie", 404), (None, 302)]
)
def test_only_admins_limit_keys(
    person: str | None, status: int, team: Team, client_for: Any, request: Any
) -> None:
    key = make_openai(team).credentials.get()
    user = request.getfixturevalue(person) if person else None
    assert client_for(user).post(limits(key), sent(key, max_calls="3")).status_code == status
    key.refresh_from_db()
    assert not key.has_limits


def test_the_pages_say_that_a_provider_is_paused(admin: Client, team: Team) -> None:
    make_openai(team)
    until = timezone.now() + timedelta(seconds=90)
    ProviderConfig.objects.update(failures=5, failure="ServerError", open_until=until)
    assert "Paused" in admin.get(url("models")).content.decode()
    page = admin.get(url("provider", "openai")).content.decode()
    assert "5 calls in a row failed (ServerError)" in page
