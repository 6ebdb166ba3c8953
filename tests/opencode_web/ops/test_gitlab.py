from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from teams.models import Membership, Role, Team, User
from tests.factories import PASSWORD, add_member, make_user
from tests.teams.identity.gitlab import GitLab, Grant, Person, running_gitlab
from tests.teams.identity.idp import is_signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def gitlab() -> Iterator[GitLab]:
    with running_gitlab() as gitlab:
        yield gitlab


def set_up(gitlab: GitLab, console: Client, **more: str) -> None:
    """The page says what to enter at GitLab, and takes what GitLab says."""
    form = {"name": "GitLab", "server_url": gitlab.base, "client_id": gitlab.client_id}
    form |= {"secret": gitlab.secret, "domains": "corp.example", "is_enabled": "on", **more}
    page = console.post("/ops/identity/new/gitlab", form, follow=True)
    address = re.search(r'id="address-1">([^<]+)<', page.content.decode())
    assert address is not None
    gitlab.redirect_uri = address[1]


def test_the_preset_is_gitlab_com(console: Client) -> None:
    page = console.get("/ops/identity/new/gitlab").content.decode()
    assert 'value="https://gitlab.com"' in page
    assert "openid, profile and email" in page


@pytest.mark.parametrize("path", ["", "/gitlab"])
def test_a_person_of_a_self_managed_gitlab_has_the_role_of_their_group(
    path: str, console: Client, client: Client, team: Team
) -> None:
    with running_gitlab(path) as gitlab:
        set_up(gitlab, console, allows_signup="on")
        rule = {"claim": "groups", "value": "acme/platform", "team": team.pk, "role": "admin"}
        assert console.post("/ops/identity/p/gitlab/rules", rule).status_code == 302
        gitlab.person.groups = ["acme", "acme/platform"]
        assert gitlab.sign_in(client)["Location"] == "/"
        user = User.objects.get(email="eve@corp.example")
        assert client.session["_auth_user_id"] == str(user.pk)
        assert user.name == "Eve Example"
        assert Membership.objects.get(team=team, user=user).role == Role.ADMIN
        # People are known by their number, whatever their address.
        client.logout()
        gitlab.person = Person(7, "eve@moved.example", groups=["acme"])
        gitlab.sign_in(client)
        assert client.session["_auth_user_id"] == str(user.pk)
        assert not Membership.objects.filter(team=team, user=user).exists()


def test_an_address_that_gitlab_has_not_confirmed_takes_no_account_over(
    gitlab: GitLab, console: Client, client: Client, team: Team
) -> None:
    set_up(gitlab, console, allows_signup="on")
    user = make_user("eve@corp.example")
    add_member(team, user, Role.MEMBER)
    gitlab.person.confirmed = False
    assert gitlab.sign_in(client)["Location"] == "/login"
    assert b"GitLab did not confirm your e-mail address" in client.get("/login").content
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    gitlab.person.confirmed = True
    assert gitlab.sign_in(client)["Location"] == "/"
    assert SocialAccount.objects.get().user == user


def test_a_confirmed_address_of_another_domain_opens_nothing(
    gitlab: GitLab, console: Client, client: Client
) -> None:
    set_up(gitlab, console, allows_signup="on")
    gitlab.person.email = "eve@private.example"
    gitlab.sign_in(client)
    assert b"There is no account for you yet" in client.get("/login").content
    make_user("eve@private.example")
    gitlab.sign_in(client)
    assert b"Sign in to it first" in client.get("/login").content
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()


def _renew_secret(gitlab: GitLab, _: Grant) -> None:
    gitlab.secret = "gloas-renewed"


def _use_code(gitlab: GitLab, _: Grant) -> None:
    gitlab.codes.clear()


def _move(_: GitLab, grant: Grant) -> None:
    grant.redirect_uri = "https://elsewhere.example/return"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_renew_secret, "invalid_client"),
        (_use_code, "invalid_grant"),
        (_move, "invalid_grant"),
    ],
)
def test_the_log_has_why_gitlab_refuses_a_code(
    spoil: Callable[[GitLab, Grant], None],
    reason: str,
    gitlab: GitLab,
    console: Client,
    client: Client,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_up(gitlab, console, allows_signup="on")
    back = urlsplit(gitlab.visit(client).headers["location"])
    secret, (grant,) = gitlab.secret, gitlab.codes.values()
    spoil(gitlab, grant)
    assert client.get(f"{back.path}?{back.query}")["Location"] == "/login"
    assert b"The sign-in with GitLab failed" in client.get("/login").content
    assert not User.objects.filter(email="eve@corp.example").exists()
    said = f"identity.failed provider=gitlab reason=Error retrieving access token: {reason}"
    assert said in caplog.messages
    assert secret not in caplog.text


def test_a_code_of_somebody_else_does_not_work_in_another_browser(
    gitlab: GitLab, console: Client, client: Client
) -> None:
    set_up(gitlab, console, allows_signup="on")
    back = urlsplit(gitlab.visit(client).headers["location"])
    gitlab.person = Person(8, "mallory@corp.example")
    theirs = parse_qs(urlsplit(gitlab.visit(Client()).headers["location"]).query)
    state = parse_qs(back.query)["state"]
    response = client.get(back.path, {"code": theirs["code"], "state": state})
    assert response["Location"] == "/login"
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"denies": True}, "access_denied"), ({"scopes": ("openid",)}, "invalid_scope")],
)
def test_what_gitlab_does_not_allow_ends_on_the_sign_in_page(
    changed: dict[str, object],
    reason: str,
    gitlab: GitLab,
    console: Client,
    client: Client,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_up(gitlab, console)
    for name, value in changed.items():
        setattr(gitlab, name, value)
    assert gitlab.sign_in(client)["Location"] == "/login"
    assert f"identity.failed provider=gitlab reason={reason}" in caplog.messages


def test_gitlab_sends_nobody_to_an_address_that_it_does_not_know(
    gitlab: GitLab, console: Client, client: Client
) -> None:
    set_up(gitlab, console)
    gitlab.redirect_uri = "https://elsewhere.example/sso/gitlab/return"
    assert gitlab.visit(client).status_code == 400
