from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.contrib.admin.utils import quote
from django.test import Client
from django.urls import include, path, reverse

from teams.actions.attempts import OF_ACCOUNT, Kind, count_attempt
from teams.actions.users import create_user
from teams.models import ApiToken, AuditEntry, Invite, Membership, Team, User
from teams.urls import account_urlpatterns
from tests.factories import make_invite, make_token

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

urlpatterns = [path("admin/", admin.site.urls), path("", include(account_urlpatterns))]

ClientFor = Callable[[User | None], Client]


@pytest.fixture(autouse=True)
def own_urls(settings: object) -> None:
    settings.ROOT_URLCONF = __name__  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", [User, Team, Membership, Invite, ApiToken, AuditEntry])
def test_an_operator_reads_rows_without_secrets_and_changes_none(
    model: type[User], client_for: ClientFor, alice: User, team: Team
) -> None:
    token, _ = make_token(alice, team)
    invite, _ = make_invite(alice, team)
    operator = create_user(
        "root@example.com", name="Root", password="long-enough-phrase", is_operator=True
    )
    client = client_for(operator)
    base = f"admin:teams_{model._meta.model_name}"
    row = model.objects.first()
    assert row is not None
    # As the admin's own links have it: "_22" in an id would be read as a quotation mark.
    own = [quote(row.pk)]
    pages = [
        client.get(reverse(f"{base}_changelist")),
        client.get(reverse(f"{base}_change", args=own)),
    ]
    for page in pages:
        assert page.status_code == 200
        text = page.content.decode()
        for secret in (token.digest, invite.digest, alice.password):
            assert secret not in text
    assert client.post(reverse(f"{base}_change", args=own), {}).status_code == 403
    assert client.post(reverse(f"{base}_delete", args=own), {"post": "yes"}).status_code == 403
    assert client.get(reverse(f"{base}_add")).status_code == 403


def test_others_do_not_enter_the_admin(client_for: ClientFor, alice: User, team: Team) -> None:
    path_ = reverse("admin:teams_user_changelist")
    assert client_for(None).get(path_, follow=True).redirect_chain[-1][0].startswith("/login")
    response = client_for(alice).get(path_, follow=True)
    assert b"root" not in response.content
    assert b"changelist" not in response.content


def test_an_operator_unlocks_the_sign_in_of_a_person(client_for: ClientFor, alice: User) -> None:
    operator = create_user(
        "root@example.com", name="Root", password="long-enough-phrase", is_operator=True
    )
    for _ in range(OF_ACCOUNT.free):
        count_attempt(Kind.PASSWORD, address="192.0.2.1", account=alice.email)
    data = {"action": "unlock", "_selected_action": [alice.pk]}
    assert (
        client_for(operator).post(reverse("admin:teams_user_changelist"), data).status_code == 302
    )
    count_attempt(Kind.PASSWORD, address="192.0.2.1", account=alice.email)
    entry = AuditEntry.objects.get(action="user.unlocked")
    assert (entry.actor, entry.target_id) == (operator, str(alice.pk))
