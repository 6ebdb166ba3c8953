from __future__ import annotations

from collections.abc import Iterator

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from pytest_django import Settings

from teams.models import AuditEntry, IdentityProvider, ResetLink, Team, User
from tests.teams.identity.idp import Idp, running_idp

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "another-good-passphrase"


@pytest.fixture
def idp() -> Iterator[Idp]:
    with running_idp() as idp:
        yield idp


def form(idp: Idp, **more: str) -> dict[str, str]:
    fields = {"name": "Corp", "server_url": f"{idp.base}/", "client_id": "web", "secret": "s3cret"}
    return {**fields, "domains": "Corp.example, corp.org", "is_enabled": "on", **more}


def test_an_operator_sets_a_provider_up(console: Client, idp: Idp, team: Team, root: User) -> None:
    response = console.post("/ops/identity/new/oidc", form(idp))
    assert response["Location"] == "/ops/identity/p/corp"
    row = IdentityProvider.objects.get()
    assert (row.slug, row.server_url, row.domains) == (
        "corp",
        idp.base,
        ["corp.example", "corp.org"],
    )
    assert "s3cret" not in row.secret
    page = console.get("/ops/identity/p/corp").content.decode()
    assert "http://testserver/sso/corp/return" in page
    assert "s3cret" not in page
    secret = row.secret
    changed = form(idp, name="Company", secret="", server_url="https://evil.example")
    console.post("/ops/identity/p/corp", changed)
    row.refresh_from_db()
    # People are linked to what this issuer calls them.
    assert (row.name, row.secret, row.server_url) == ("Company", secret, idp.base)
    rule = {"claim": "groups", "value": "dev", "team": team.pk, "role": "member"}
    assert console.post("/ops/identity/p/corp/rules", rule).status_code == 302
    assert console.post("/ops/identity/p/corp/rules", rule).status_code == 422
    stored = row.rules.get()
    assert console.post(f"/ops/identity/p/corp/rules/{stored.pk}").status_code == 302
    SocialAccount.objects.create(user=root, provider="corp", uid="1")
    console.post("/ops/identity/p/corp/delete")
    assert not SocialAccount.objects.exists()
    entries = AuditEntry.objects.filter(action__startswith="identity.").order_by("pk")
    # The team reads who gets a role in it by a rule, and no longer.
    assert entries.exclude(team=None).count() == 2
    actions = entries.filter(team=None)
    names = [
        action.removeprefix("identity.") for action in actions.values_list("action", flat=True)
    ]
    assert names == ["created", "updated", "updated", "updated", "deleted"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"server_url": "http://127.0.0.1:9/x"}, "cannot be read"),
        ({"server_url": "http://idp.example"}, "begins with https://"),
        ({"domains": "no domain!"}, "Enter a valid domain name"),
        ({"domains": "", "allows_signup": "on"}, "Enter the domains"),
    ],
)
def test_what_cannot_work_is_said_at_once(
    changed: dict[str, str], sentence: str, console: Client, idp: Idp
) -> None:
    page = console.post("/ops/identity/new/oidc", form(idp, **changed))
    assert page.status_code == 422
    assert sentence in page.content.decode()
    assert not IdentityProvider.objects.exists()


def test_discovery_reaches_only_what_the_policy_opens(
    console: Client, idp: Idp, settings: Settings
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1:1"]
    assert console.post("/ops/identity/new/oidc", form(idp)).status_code == 422
    assert idp.paths == []


def test_a_password_reset_link_is_shown_once_and_works_once(
    console: Client, alice: User, team: Team, root: User
) -> None:
    signed_in = Client()
    signed_in.force_login(alice)
    page = console.post("/ops/identity/reset", {"email": "Alice@example.com"})
    assert "no-store" in page["Cache-Control"]
    path = page.context["reset_link"].removeprefix("http://testserver")
    secret = path.rpartition("/")[2]
    assert secret not in str(ResetLink.objects.values().get())
    assert secret not in console.get("/ops/identity").content.decode()
    person = Client()
    assert b"alice@example.com" in person.get(path).content
    assert person.post(path, {"password": "short"}).status_code == 422
    assert person.post(path, {"password": NEW})["Location"] == "/login"
    assert person.post(path, {"password": "yet-another-passphrase"}).status_code == 404
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    assert signed_in.get("/me/profile").status_code == 302
    assert AuditEntry.objects.filter(action="reset.created", actor=root).exists()
    assert AuditEntry.objects.filter(action="user.password_changed", actor=alice).exists()


def test_nobody_else_gets_in(alice: User, team: Team) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get("/ops/identity").status_code == 404
    assert client.post("/ops/identity/reset", {"email": alice.email}).status_code == 404
    assert client.post("/ops/identity/policy", {}).status_code == 404
    assert not ResetLink.objects.exists()
