from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from providers.models import Credential, ProviderConfig
from teams.models import AuditEntry, Team, User
from tests.providers.factories import KEY, make_openai
from tests.providers.views.test_pages import admin as admin
from tests.providers.views.test_pages import url


def test_an_admin_adds_names_limits_and_removes_one_of_several_keys(
    admin: Client, team: Team
) -> None:
    row = make_openai(team)
    added = {"new-key": "sk-second-abcdefgh-1234", "new-label": "Second", "base_url": ""}
    page = admin.post(url("key_add", "openai"), added, follow=True).content.decode()
    assert "It takes turns with the others." in page
    assert "•••• 1234" in page
    assert "sk-second" not in page
    second = row.credentials.get(label="Second")
    change = reverse("providers:key_change", kwargs=of_key(second.pk))
    prefix = f"key-{second.pk}"
    sent = {
        f"{prefix}-label": "Spare",
        f"{prefix}-max_calls": "3",
        f"{prefix}-tokens_per_minute": "",
    }
    admin.post(change, sent)
    second.refresh_from_db()
    assert (second.label, second.max_calls, second.tokens_per_minute) == ("Spare", 3, None)
    wrong = admin.post(change, {**sent, f"{prefix}-max_calls": "0"})
    assert wrong.status_code == 422
    remove = reverse("providers:key_remove", kwargs=of_key(second.pk))
    assert "Remove Spare of OpenAI?" in admin.get(remove).content.decode()
    admin.post(remove)
    assert [key.last4 for key in row.credentials.all()] == [KEY[-4:]]
    facts = [
        entry.data.get("key")
        for entry in AuditEntry.objects.filter(action="provider.updated").order_by("pk")
    ]
    assert facts == ["added", "changed", "removed"]


def test_a_key_of_another_team_is_not_found(
    admin: Client, team: Team, other_key: Credential
) -> None:
    make_openai(team)
    for name in ("key_change", "key_remove"):
        answer = admin.post(reverse(f"providers:{name}", kwargs=of_key(other_key.pk)))
        assert answer.status_code == 404
    assert Credential.objects.filter(pk=other_key.pk).exists()


def test_the_pages_say_that_a_provider_is_paused(admin: Client, team: Team) -> None:
    row = make_openai(team)
    until = timezone.now() + timedelta(seconds=90)
    ProviderConfig.objects.update(failures=5, failure="ServerError", open_until=until)
    assert "Paused" in admin.get(url("models")).content.decode()
    page = admin.get(url("provider", "openai")).content.decode()
    assert "5 calls in a row have failed (ServerError)" in page
    assert row.failures == 0


def of_key(key_id: int) -> dict[str, Any]:
    return {"team": "acme", "provider": "openai", "key": key_id}


@pytest.fixture
def other_key(charlie: User) -> Credential:
    other = Team.objects.create(name="Other", slug="other-one", id="team_other_one")
    row = make_openai(other)
    key = row.credential
    assert key is not None
    return key
