from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from teams.actions.accounts import deactivate_account
from teams.actions.directory import (
    AccountDraft,
    add_directory_rule,
    create_directory_account,
    save_directory_group,
)
from teams.models import (
    AuditEntry,
    DirectoryGroup,
    IdentityRule,
    Membership,
    Role,
    Team,
    User,
)
from tests.factories import PASSWORD, add_member, make_invite, make_team, make_user
from tests.teams.identity.idp import Idp, is_signed_in, make_provider, running_idp

pytestmark = pytest.mark.django_db(transaction=True)

EVE = {"sub": "eve-1", "email": "Eve@Corp.Example", "email_verified": True, "name": "Eve"}


@pytest.fixture
def idp() -> Iterator[Idp]:
    with running_idp() as idp:
        idp.claims = dict(EVE)
        yield idp


def test_feat_0010_fr_06_a_new_person_signs_in_with_pkce_and_a_nonce(
    idp: Idp, client: Client
) -> None:
    make_provider(idp, allows_signup=True)
    asked = idp.begin(client)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["nonce"][0]) > 20
    before = client.session.session_key
    response = idp.come_back(client)
    assert response["Location"] == "/"
    assert is_signed_in(client)
    # A session that somebody planted is not the one that is signed in.
    assert client.session.session_key != before
    digest = hashlib.sha256(idp.exchanged["code_verifier"][0].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"][0]
    user = User.objects.get()
    assert (user.email, user.name, user.has_usable_password()) == ("eve@corp.example", "Eve", False)
    made = AuditEntry.objects.filter(action="user.created").latest("pk")
    assert made.told == {"provider": "corp"}


@pytest.mark.parametrize(
    "lies",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "somebody-else"},
        {"aud": ["web", "x"], "azp": "x"},
        {"exp": 1},
        {"iss": "https://evil.example"},
        {"sub": "another"},
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    lies: dict[str, Any], idp: Idp, client: Client
) -> None:
    make_provider(idp, allows_signup=True)
    idp.lies = lies
    response = idp.sign_in(client)
    assert response["Location"] == "/login"
    assert not is_signed_in(client)
    assert not User.objects.exists()


def test_a_signature_of_another_key_is_refused(idp: Idp, client: Client) -> None:
    make_provider(idp, allows_signup=True)
    idp.signs_with_other_key = True
    assert idp.sign_in(client)["Location"] == "/login"
    assert not User.objects.exists()


def test_a_state_counts_once_and_in_its_own_browser(idp: Idp, client: Client) -> None:
    make_provider(idp, allows_signup=True)
    idp.begin(client)
    assert idp.come_back(client, state="wrong")["Location"] == "/login"
    assert idp.come_back(Client())["Location"] == "/login"
    assert not User.objects.exists()
    assert idp.come_back(client)["Location"] == "/"
    client.logout()
    assert idp.come_back(client)["Location"] == "/login"
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("target", "expected"), [("/me/tokens", "/me/tokens"), ("https://evil.example/", "/")]
)
def test_next_never_leaves_the_server(target: str, expected: str, idp: Idp, client: Client) -> None:
    make_provider(idp, allows_signup=True)
    assert idp.sign_in(client, next=target)["Location"] == expected


@pytest.mark.parametrize("verified", [True, False])
def test_a_new_person_signs_in_with_github_by_an_address_that_it_has_confirmed(
    verified: bool, idp: Idp, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_provider(idp, slug="hub", kind="github", allows_signup=True)
    for name, path in (("access_token_url", "token"), ("profile_url", "user"), ("emails_url", "e")):
        monkeypatch.setattr(GitHubOAuth2Adapter, name, f"{idp.base}/{path}")
    emails = [("eve@private.example", True), ("Eve@Corp.Example", verified)]
    idp.bodies = {
        "/user": {"id": 7, "login": "eve", "name": "Eve", "email": "eve@corp.example"},
        "/e": [{"email": one, "primary": False, "verified": is_so} for one, is_so in emails],
    }
    asked = idp.begin(client, "hub")
    assert asked["scope"] == ["user:email"]
    assert asked["code_challenge_method"] == ["S256"]
    client.get(reverse("github_callback"), {"code": "c", "state": asked["state"][0]})
    assert idp.exchanged["code_verifier"]
    assert is_signed_in(client) is verified
    people = [("eve@corp.example", "Eve")] if verified else []
    assert list(User.objects.values_list("email", "name")) == people


@pytest.mark.parametrize("verified", [False, "false", None])
def test_an_address_that_is_not_confirmed_links_and_creates_nothing(
    verified: Any, idp: Idp, client: Client
) -> None:
    make_provider(idp, allows_signup=True)
    make_user("eve@corp.example")
    idp.claims["email_verified"] = verified
    assert idp.sign_in(client)["Location"] == "/login"
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


def test_an_operator_can_trust_addresses_of_the_domains_only(idp: Idp, client: Client) -> None:
    make_provider(idp, allows_signup=True, trusts_email=True)
    del idp.claims["email_verified"]
    idp.claims["email"] = "eve@elsewhere.example"
    assert idp.sign_in(client)["Location"] == "/login"
    idp.claims["email"] = "eve@corp.example"
    assert idp.sign_in(client)["Location"] == "/"


def test_an_ordinary_account_is_linked_by_its_address_and_loses_its_password(
    idp: Idp, client: Client, team: Team
) -> None:
    make_provider(idp)
    user = make_user("eve@corp.example")
    add_member(team, user, Role.MEMBER)
    planted = Client()
    planted.force_login(user)
    planted.get("/me/profile")
    assert idp.sign_in(client)["Location"] == "/"
    assert SocialAccount.objects.get().user == user
    user.refresh_from_db()
    # Whoever made the account with somebody else's address is out.
    assert not user.has_usable_password()
    assert planted.get("/me/profile").status_code == 302
    assert AuditEntry.objects.filter(action="identity.linked", actor=user).exists()


def test_an_account_of_the_directory_is_linked_although_its_groups_made_it_an_admin(
    idp: Idp, client: Client, team: Team
) -> None:
    make_provider(idp)
    operator = make_user("root@example.com", operator=True)
    add_directory_rule(operator, group="leads", team=team, role=Role.ADMIN)
    email = "eve@corp.example"
    user = create_directory_account(AccountDraft(email, "1", email, "Eve", {}))
    save_directory_group(DirectoryGroup(name="leads"), members=[user.pk])
    # What somebody here has given is not the directory's to open.
    other = make_team(operator, name="Other", slug="other")
    given = add_member(other, user, Role.OWNER)
    assert idp.sign_in(client)["Location"] == "/login"
    given.delete()
    assert idp.sign_in(client)["Location"] == "/"
    assert SocialAccount.objects.get().user == user
    deactivate_account(user, actor=None, reason="Left")
    assert not is_signed_in(client)
    again = Client()
    idp.sign_in(again)
    assert not is_signed_in(again)


def _operator(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_superuser=True)


def _owner(user: User) -> None:
    make_team(user, name="Own", slug="own")


def _program(user: User) -> None:
    User.objects.filter(pk=user.pk).update(service_of=make_team(make_user("o@x.example")))


def _with_factor(user: User) -> None:
    Authenticator.objects.create(user=user, type="totp", data={"secret": "x"})


def _with_other_provider(user: User) -> None:
    SocialAccount.objects.create(user=user, provider="other", uid="1")


@pytest.mark.parametrize(
    "protect", [_operator, _owner, _program, _with_factor, _with_other_provider]
)
def test_no_protected_account_is_linked_silently(
    protect: Callable[[User], None], idp: Idp, client: Client
) -> None:
    make_provider(idp, allows_signup=True)
    user = make_user("eve@corp.example")
    protect(user)
    response = idp.sign_in(client)
    assert response["Location"] == "/login"
    assert not is_signed_in(client)
    assert not SocialAccount.objects.filter(provider="corp").exists()
    assert b"Sign in to it first" in client.get("/login").content


def test_a_signed_in_person_connects_a_provider_after_confirming(idp: Idp, client: Client) -> None:
    make_provider(idp)
    user = make_user("boss@corp.example")
    _operator(user)
    client.post("/login", {"login": user.email, "password": PASSWORD})
    response = idp.sign_in(client, process="connect")
    assert response["Location"] == "/me/security/again"
    client.post("/me/security/again", {"password": PASSWORD})
    assert SocialAccount.objects.get().user == user
    client.logout()
    assert idp.sign_in(client)["Location"] == "/"
    assert client.session["_auth_user_id"] == str(user.pk)


def test_a_private_account_at_a_public_provider_is_not_connected(idp: Idp, client: Client) -> None:
    make_provider(idp, kind="google", domains=["corp.example"])
    make_user("eve@corp.example", name="Eve")
    client.post("/login", {"login": "eve@corp.example", "password": PASSWORD})
    idp.claims = {**EVE, "email": "eve@private.example"}
    assert idp.sign_in(client, process="connect")["Location"] == "/me/security"
    page = client.get("/me/security").content.decode()
    assert "Connect an account at Corp with a confirmed e-mail address" in page
    assert not SocialAccount.objects.exists()
    idp.claims = dict(EVE)
    idp.sign_in(client, process="connect")
    client.post("/me/security/again", {"password": PASSWORD})
    assert SocialAccount.objects.get().uid == "eve-1"


def test_without_sign_up_a_person_needs_an_invitation(
    idp: Idp, client: Client, team: Team, alice: User
) -> None:
    make_provider(idp)
    assert idp.sign_in(client)["Location"] == "/login"
    assert not User.objects.filter(email="eve@corp.example").exists()
    _, secret = make_invite(alice, team)
    client.get(f"/invite/{secret}")
    assert idp.sign_in(client, next=f"/invite/{secret}")["Location"] == f"/invite/{secret}"
    client.post(f"/invite/{secret}")
    assert Membership.objects.filter(team=team, user__email="eve@corp.example").exists()


def test_roles_follow_claims_at_each_sign_in(idp: Idp, client: Client, team: Team) -> None:
    provider = make_provider(idp, allows_signup=True)
    for claim, value, role in (
        ("domain", "corp.example", Role.VIEWER),
        ("realm.roles", "dev", Role.MEMBER),
        ("groups", "leads", Role.ADMIN),
    ):
        IdentityRule.objects.create(
            provider=provider, claim=claim, value=value, team=team, role=role
        )

    def role_with(**claims: Any) -> str | None:
        client.logout()
        idp.claims = {**EVE, **claims}
        idp.sign_in(client)
        row = Membership.objects.filter(team=team, user__email="eve@corp.example").first()
        return row.role if row else None

    assert role_with() == "viewer"
    assert role_with(realm={"roles": ["dev"]}) == "member"
    assert role_with(groups=["leads", "x"]) == "admin"
    assert role_with(groups="leader") == "viewer"
    assert role_with(email="eve@moved.example") is None
    actions = AuditEntry.objects.filter(team=team).order_by("pk").values_list("action", flat=True)
    assert list(actions)[1:] == ["member.joined", *["member.role_changed"] * 3, "member.removed"]
    assert role_with() == "viewer"
    provider.rules.all().delete()
    assert role_with() is None


def test_rules_leave_invited_members_and_the_last_owner_alone(
    idp: Idp, client: Client, team: Team, alice: User
) -> None:
    provider = make_provider(idp)
    invited = make_user("eve@corp.example")
    add_member(team, invited, Role.MEMBER)
    rule = IdentityRule.objects.create(
        provider=provider, claim="groups", value="leads", team=team, role=Role.OWNER
    )
    idp.claims["groups"] = ["leads"]
    idp.sign_in(client)
    assert Membership.objects.get(team=team, user=invited).role == Role.MEMBER
    Membership.objects.filter(user=invited).delete()
    client.logout()
    idp.sign_in(client)
    assert Membership.objects.get(team=team, user=invited).role == Role.OWNER
    Membership.objects.filter(user=alice).delete()
    client.logout()
    idp.claims["groups"] = []
    idp.sign_in(client)
    assert Membership.objects.get(team=team, user=invited).role == Role.OWNER
    rule.delete()
    client.logout()
    idp.sign_in(client)
    assert Membership.objects.get(team=team, user=invited).role == Role.OWNER


def test_a_private_provider_is_reached_only_where_an_operator_opened_it(
    idp: Idp, client: Client, settings: Settings
) -> None:
    make_provider(idp, allows_signup=True)
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    assert client.post("/login/with/corp")["Location"] == "/login"
    assert idp.paths == []


def test_a_disabled_provider_and_a_disabled_person_stay_out(idp: Idp, client: Client) -> None:
    provider = make_provider(idp, allows_signup=True)
    idp.sign_in(client)
    client.logout()
    User.objects.update(is_active=False)
    assert idp.sign_in(client)["Location"] == "/inactive"
    assert not is_signed_in(client)
    provider.is_enabled = False
    provider.save()
    assert client.post("/login/with/corp").status_code == 404


def test_an_address_finds_the_provider_of_its_domain(idp: Idp, client: Client) -> None:
    make_provider(idp)
    make_user("somebody@x.example")
    assert b"Sign in with Corp" in client.get("/login").content
    page = client.post("/login/company", {"company_email": "x@corp.example"})
    assert f"{idp.base}/authorize" in page.content.decode()
    assert client.post("/login/company", {"company_email": "x@y.example"})["Location"] == "/login"
