from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver

from teams.access import access_team
from teams.actions.services import create_service, create_service_token
from teams.models import Invite, Membership, Role, Scope, Team, TeamGroup, User
from teams.urls import account_urlpatterns, team_urlpatterns
from tests.factories import (
    add_member,
    make_browser,
    make_invite,
    make_team,
    make_token,
    make_user,
)

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
CAST = ("alice", "adam", "bob", "vera", "charlie", "nobody")
ROLES = {"adam": Role.ADMIN, "bob": Role.MEMBER, "vera": Role.VIEWER, "bill": Role.BILLING}
# What bill gets, of the role billing, where it is not what an outsider gets.
FOR_BILLING = {
    "get settings": 302,
    "post emergency_dismiss": 302,
    "get leave": 200,
    "post leave": 302,
    "get members": 200,
    "get roles": 200,
}


@dataclass(frozen=True)
class Page:
    name: str
    method: str
    path: str
    # What alice, adam, bob, vera, charlie and nobody get.
    codes: tuple[int, int, int, int, int, int]

    def code_for(self, who: str) -> int:
        if who != "bill":
            return self.codes[CAST.index(who)]
        return FOR_BILLING.get(f"{self.method} {self.name}", self.codes[CAST.index("charlie")])


# 302 of nobody is the way to the sign-in page; 422 is a form that was read and found empty.
T = "/t/acme/settings/"
TABLE = [
    Page("announcement_hide", "post", "/announcements/1/hide", (302, 302, 302, 302, 302, 302)),
    Page("settings", "get", T, (302, 302, 302, 302, 404, 302)),
    Page("general", "get", T + "general", (200, 200, 200, 200, 404, 302)),
    Page("general", "post", T + "general", (422, 422, 403, 403, 404, 302)),
    Page("transfer", "post", T + "transfer", (422, 403, 403, 403, 404, 302)),
    Page("policy", "post", T + "policy", (302, 403, 403, 403, 404, 302)),
    Page("delete", "post", T + "delete", (422, 403, 403, 403, 404, 302)),
    Page("leave", "get", T + "leave", (200, 200, 200, 200, 404, 302)),
    Page("leave", "post", T + "leave", (409, 302, 302, 302, 404, 302)),
    Page("members", "get", T + "members", (200, 200, 200, 200, 404, 302)),
    Page("member_role", "post", T + "members/{member}/role", (400, 400, 403, 403, 404, 302)),
    Page(
        "member_approver", "post", T + "members/{member}/approver", (302, 302, 403, 403, 404, 302)
    ),
    Page("member_remove", "get", T + "members/{member}/remove", (200, 200, 403, 403, 404, 302)),
    Page("member_remove", "post", T + "members/{member}/remove", (302, 302, 403, 403, 404, 302)),
    Page(
        "member_token",
        "get",
        T + "members/tokens/{member_token}/revoke",
        (200, 200, 403, 403, 404, 302),
    ),
    Page(
        "member_token",
        "post",
        T + "members/tokens/{member_token}/revoke",
        (302, 302, 403, 403, 404, 302),
    ),
    Page("roles", "get", T + "roles", (200, 200, 200, 200, 404, 302)),
    Page("invite_create", "post", T + "invites", (422, 422, 403, 403, 404, 302)),
    Page("invite_revoke", "get", T + "invites/{invite}/revoke", (200, 200, 403, 403, 404, 302)),
    Page("invite_revoke", "post", T + "invites/{invite}/revoke", (302, 302, 403, 403, 404, 302)),
    Page("groups", "get", T + "groups", (200, 200, 403, 403, 404, 302)),
    Page("groups", "post", T + "groups", (422, 422, 403, 403, 404, 302)),
    Page("group", "get", T + "groups/{group}", (200, 200, 403, 403, 404, 302)),
    Page("group", "post", T + "groups/{group}", (422, 422, 403, 403, 404, 302)),
    Page("group_member", "post", T + "groups/{group}/members", (404, 404, 403, 403, 404, 302)),
    Page("group_delete", "get", T + "groups/{group}/delete", (200, 200, 403, 403, 404, 302)),
    Page("group_delete", "post", T + "groups/{group}/delete", (302, 302, 403, 403, 404, 302)),
    Page("services", "get", T + "services", (200, 200, 403, 403, 404, 302)),
    Page("services", "post", T + "services", (422, 422, 403, 403, 404, 302)),
    Page("service", "get", T + "services/{service}", (200, 200, 403, 403, 404, 302)),
    Page("service", "post", T + "services/{service}", (422, 422, 403, 403, 404, 302)),
    Page(
        "service_enabled", "post", T + "services/{service}/enabled", (302, 302, 403, 403, 404, 302)
    ),
    Page("service_token", "post", T + "services/{service}/token", (422, 422, 403, 403, 404, 302)),
    Page(
        "service_revoke",
        "post",
        T + "services/{service}/token/{service_token}/revoke",
        (302, 302, 403, 403, 404, 302),
    ),
    Page("service_delete", "get", T + "services/{service}/delete", (200, 200, 403, 403, 404, 302)),
    Page("service_delete", "post", T + "services/{service}/delete", (302, 302, 403, 403, 404, 302)),
    Page("emergency_dismiss", "post", T + "emergencies/1/dismiss", (302, 302, 302, 302, 404, 302)),
    Page("audit", "get", T + "audit", (200, 200, 403, 403, 404, 302)),
    Page("audit_csv", "get", T + "audit.csv", (200, 200, 403, 403, 404, 302)),
    Page("home", "get", "/", (302, 302, 302, 302, 302, 302)),
    Page("account_login", "get", "/login", (302, 302, 302, 302, 302, 200)),
    Page("account_logout", "get", "/logout", (200, 200, 200, 200, 200, 302)),
    Page("account_inactive", "get", "/inactive", (200, 200, 200, 200, 200, 200)),
    Page("invite", "get", "/invite/{secret}", (200, 200, 200, 200, 200, 200)),
    Page("new_team", "get", "/teams/new", (200, 200, 200, 200, 200, 302)),
    Page("new_team", "post", "/teams/new", (422, 422, 422, 422, 422, 302)),
    Page("profile", "get", "/me/profile", (200, 200, 200, 200, 200, 302)),
    Page("profile", "post", "/me/profile", (422, 422, 422, 422, 422, 302)),
    Page("password", "post", "/me/password", (422, 422, 422, 422, 422, 302)),
    Page("appearance", "get", "/me/appearance", (200, 200, 200, 200, 200, 302)),
    Page("appearance", "post", "/me/appearance", (302, 302, 302, 302, 302, 302)),
    Page("theme_save", "post", "/me/appearance/theme", (422, 422, 422, 422, 422, 302)),
    Page("theme_css", "get", "/me/theme.css", (200, 200, 200, 200, 200, 302)),
    Page("shortcuts", "get", "/me/shortcuts", (200, 200, 200, 200, 200, 302)),
    Page("shortcut_list", "get", "/me/shortcuts/list", (200, 200, 200, 200, 200, 302)),
    Page("shortcut", "post", "/me/shortcuts/s/home", (302, 302, 302, 302, 302, 302)),
    Page("shortcuts_reset", "post", "/me/shortcuts/reset", (302, 302, 302, 302, 302, 302)),
    Page("shortcuts_lone", "post", "/me/shortcuts/lone", (302, 302, 302, 302, 302, 302)),
    Page("shortcuts_enter", "post", "/me/shortcuts/enter", (400, 400, 400, 400, 400, 302)),
    Page("devices", "get", "/me/devices", (200, 200, 200, 200, 200, 302)),
    Page("devices_others", "post", "/me/devices/others", (302, 302, 302, 302, 302, 302)),
    Page("device", "post", "/me/devices/{device}", (404, 404, 404, 302, 404, 302)),
    Page("mfa_index", "get", "/me/security", (200, 200, 200, 200, 200, 302)),
    Page("account_reauthenticate", "get", "/me/security/again", (200, 200, 200, 200, 200, 302)),
    Page("mfa_reauthenticate", "get", "/me/security/again/code", (302, 302, 302, 302, 302, 302)),
    Page(
        "mfa_reauthenticate_webauthn",
        "get",
        "/me/security/again/key",
        (302, 302, 302, 302, 302, 302),
    ),
    Page("mfa_activate_totp", "get", "/me/security/app", (302, 302, 302, 302, 302, 302)),
    Page("mfa_deactivate_totp", "post", "/me/security/app/remove", (404, 404, 404, 404, 404, 302)),
    Page("mfa_view_recovery_codes", "get", "/me/security/codes", (404, 404, 404, 404, 404, 302)),
    Page(
        "mfa_generate_recovery_codes",
        "post",
        "/me/security/codes/new",
        (302, 302, 302, 302, 302, 302),
    ),
    Page(
        "mfa_download_recovery_codes",
        "get",
        "/me/security/codes/file",
        (404, 404, 404, 404, 404, 302),
    ),
    Page("mfa_add_webauthn", "post", "/me/security/keys/new", (302, 302, 302, 302, 302, 302)),
    Page(
        "mfa_remove_webauthn", "post", "/me/security/keys/1/remove", (302, 302, 302, 302, 302, 302)
    ),
    Page(
        "provider_disconnect",
        "post",
        "/me/security/providers/x/disconnect",
        (302, 302, 302, 302, 302, 302),
    ),
    Page("mfa_authenticate", "get", "/login/code", (302, 302, 302, 302, 302, 302)),
    Page("mfa_login_webauthn", "get", "/login/passkey", (302, 302, 302, 302, 302, 302)),
    Page("sign_in_company", "post", "/login/company", (302, 302, 302, 302, 302, 302)),
    Page("sign_in_with", "post", "/login/with/none", (404, 404, 404, 404, 404, 404)),
    Page("forgot", "get", "/login/forgot", (404, 404, 404, 404, 404, 404)),
    Page("forgot", "post", "/login/forgot", (404, 404, 404, 404, 404, 404)),
    Page("reset", "get", "/login/reset/none", (404, 404, 404, 404, 404, 404)),
    Page("openid_connect_callback", "get", "/sso/none/return", (404, 404, 404, 404, 404, 404)),
    Page("github_callback", "get", "/sso/github/return/oauth", (404, 404, 404, 404, 404, 404)),
    Page("saml_acs", "post", "/sso/none/acs", (302, 302, 302, 302, 302, 302)),
    Page("saml_finish_acs", "get", "/sso/none/acs/finish", (404, 404, 404, 404, 404, 404)),
    Page("saml_sls", "get", "/sso/none/sls", (404, 404, 404, 404, 404, 404)),
    Page("saml_metadata", "get", "/sso/none/metadata", (404, 404, 404, 404, 404, 404)),
    Page("tokens", "get", "/me/tokens", (200, 200, 200, 200, 200, 302)),
    Page("tokens", "post", "/me/tokens", (422, 422, 422, 422, 422, 302)),
    Page("token_revoke", "get", "/me/tokens/{token}/revoke", (404, 404, 404, 200, 404, 302)),
    Page("token_revoke", "post", "/me/tokens/{token}/revoke", (404, 404, 404, 302, 404, 302)),
]


# Steps of a sign-in, and its end.
FOR_NOBODY = {
    *("account_logout", "mfa_authenticate", "mfa_login_webauthn", "sign_in_company", "saml_acs")
}


@dataclass(frozen=True)
class World:
    """`keys` are those of the sessions of the browsers of `CAST` and bill, none for nobody."""

    names: dict[str, object]
    keys: dict[str, str]


def _make_world() -> World:
    names_of_people = {*CAST, "bill"} - {"nobody"}
    people = {name: make_user(f"{name}@example.com") for name in names_of_people}
    team = make_team(people["alice"], name="Acme", slug="acme")
    make_team(people["charlie"], name="Globex", slug="globex")
    for name, role in ROLES.items():
        add_member(team, people[name], role)
    invite, secret = make_invite(people["alice"], team)
    access = access_team(people["alice"], "acme")
    service = create_service(access, name="Runner", role=Role.MEMBER)
    names = {
        "service": service.user_id,
        "group": TeamGroup.objects.create(team=team, name="Reviewers").pk,
        "service_token": create_service_token(access, service, name="CI", scope=Scope.READ)[0].pk,
        "member": Membership.objects.get(user=people["vera"]).pk,
        "invite": invite.pk,
        "secret": secret,
        "token": make_token(people["vera"], team)[0].pk,
        "device": make_browser(people["vera"]).pk,
    }
    names["member_token"] = names["token"]
    keys = {}
    for name, user in people.items():
        client = Client()
        client.force_login(user)
        keys[name] = str(client.session.session_key)
    return World(names, keys | {"nobody": ""})


@pytest.fixture
def world(db: None) -> World:
    return _make_world()


@pytest.mark.deep
def test_who_gets_which_page(world: World) -> None:
    wrong = {}
    for page in TABLE:
        wanted = {who: page.code_for(who) for who in [*CAST, "bill"]}
        if (found := _ask_as_everybody(page, world)) != wanted:
            wrong[f"{page.method} {page.name}"] = f"{found}, and not {wanted}"
    assert wrong == {}


def _ask_as_everybody(page: Page, world: World) -> dict[str, int]:
    """Returns: the status codes that they get."""
    found = {}
    for who, key in world.keys.items():
        client = Client()
        if key:
            client.cookies[settings.SESSION_COOKIE_NAME] = key
        with transaction.atomic():
            response = getattr(client, page.method)(page.path.format(**world.names))
            transaction.set_rollback(True)
        found[who] = response.status_code
        if who == "nobody" and response.status_code == 302 and page.name not in FOR_NOBODY:
            assert unquote(response["Location"]).startswith("/login?next=/"), page.name
    return found


def _names(patterns: list[URLPattern | URLResolver]) -> set[str]:
    names: set[str] = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            names |= _names(pattern.url_patterns)
        else:
            names.add(str(pattern.name))
    return names


def test_every_route_is_in_the_table() -> None:
    assert _names([*account_urlpatterns, *team_urlpatterns]) == {page.name for page in TABLE}


def test_objects_of_another_team_are_not_found(
    client_for: ClientFor, alice: User, charlie: User, team: Team
) -> None:
    client = client_for(charlie)
    invite, _ = make_invite(alice, team)
    member = Membership.objects.get(user=alice)
    base = "/t/globex/settings/"
    for path in (f"invites/{invite.pk}/revoke", f"members/{member.pk}/remove"):
        assert client.get(base + path).status_code == 404
        assert client.post(base + path).status_code == 404
    assert client.post(f"{base}members/{member.pk}/role", {"role": "viewer"}).status_code == 404
    assert Invite.objects.get().revoked_at is None
    assert Membership.objects.filter(user=alice, role="owner").exists()


def test_a_transfer_to_another_teams_member_is_refused(
    client_for: ClientFor, alice: User, charlie: User, team: Team
) -> None:
    other = charlie.memberships.get()
    response = client_for(alice).post("/t/acme/settings/transfer", {"member": other.pk})
    assert response.status_code == 422
    assert not Membership.objects.filter(user=charlie, team=team).exists()


@pytest.mark.parametrize("slug", ["acme", "nothing"])
def test_an_outsider_cannot_tell_whether_a_team_exists(
    slug: str, client_for: ClientFor, team: Team, charlie: User
) -> None:
    page = client_for(charlie).get(f"/t/{slug}/settings/general").content.decode()
    assert "not found" in page.lower()
    assert "Acme" not in page


def test_the_pages_of_members_take_a_constant_number_of_queries(
    client_for: ClientFor, alice: User, team: Team, django_assert_max_num_queries: object
) -> None:
    for number in range(15):
        user = User.objects.create(email=f"m{number}@example.com")
        Membership.objects.create(team=team, user=user, role="member")
        make_invite(alice, team)
        make_token(alice, team)
    client = client_for(alice)
    for path in (T + "members", T + "audit", "/me/tokens"):
        client.get(path)
        with django_assert_max_num_queries(12):  # type: ignore[operator]
            assert client.get(path).status_code == 200
