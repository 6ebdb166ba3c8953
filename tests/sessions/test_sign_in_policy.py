"""What a team's sign-in policy closes: every surface, and what opens it again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings as django_settings
from django.db import connections
from django.test import Client

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden, Invalid
from sessions.consumers import websocket_application
from sessions.models import Project, Session
from sessions.stream.browser import FORBIDDEN
from sessions.stream.log import live_team_ids
from teams.access import access_team
from teams.actions.identity import delete_provider, set_instance_policy, set_team_policy
from teams.actions.services import create_service
from teams.auth import authenticate_header, authenticate_user, is_live, resume_principal
from teams.browser import BrowserSession
from teams.models import AuditEntry, IdentityProvider, Role, SignIn, Team, User
from teams.policy import PolicyUnmet
from tests.factories import PASSWORD, add_member, make_team, make_token, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def close_the_connection_of_the_session_middleware() -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


@pytest.fixture
def provider(db: None) -> IdentityProvider:
    return IdentityProvider.objects.create(slug="corp", name="Corp", kind="oidc")


def client_of(user: User, *methods: str) -> Client:
    """A browser that was signed in like this."""
    client = Client()
    client.force_login(user)
    session = client.session
    session["account_authentication_methods"] = [
        {"method": method, "provider": "corp"} for method in methods
    ]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    return client


def require(team: Team, **flags: bool) -> None:
    Team.objects.filter(pk=team.pk).update(**{f"requires_{name}": on for name, on in flags.items()})


PLACES = {
    "mfa": ("requires multi-factor authentication", ("mfa",)),
    "sso": ("requires single sign-on", ("socialaccount",)),
}


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("policy", PLACES)
def test_feat_0010_nfr_02_pages_and_the_api_are_closed_until_the_sign_in_is_right(
    policy: str, team: Team, bob: User, session: Session, project: Project
) -> None:
    sentence, methods = PLACES[policy]
    require(team, **{policy: True})
    pages = ("/t/acme/", f"/t/acme/s/{session.pk}", "/t/acme/settings/general", "/t/acme/usage")
    routes = (f"/session/{session.pk}", f"/session/{session.pk}/message")
    lists = ("/session", "/project", "/permission", "/question", "/session/status")
    closed = client_of(bob, "password")
    for page in pages:
        response = closed.get(page, follow=True)
        assert response.redirect_chain == [("/me/security", 302)], page
        assert sentence in response.content.decode()
        # And back from there.
        assert f'href="{page}"' in response.content.decode()
        answer = closed.get(page, headers={"hx-request": "true"})
        assert answer.status_code == 403
    for route in routes:
        answer = closed.get(route)
        assert (answer.status_code, answer.json()["name"]) == (403, "ForbiddenError"), route
        assert sentence in answer.json()["data"]["message"]
    for route in lists:
        body = closed.get(route).content.decode()
        assert session.pk not in body, route
        assert project.pk not in body, route
    prompt = {"parts": [{"type": "text", "text": "hi"}]}
    written = closed.post(f"/session/{session.pk}/prompt_async", prompt, "application/json")
    assert written.status_code == 403
    opened = client_of(bob, "password", *methods)
    assert opened.get(pages[0]).status_code == 200
    assert opened.get(routes[0]).status_code == 200
    # What is about the person stays open, or nobody could set anything up.
    assert closed.get("/me/profile").status_code == 200


def test_records_of_another_person_in_the_same_browser_count_for_nothing(
    team: Team, bob: User, alice: User
) -> None:
    require(team, mfa=True)
    client = client_of(bob, "mfa")
    session = client.session
    session["account_authentication_methods_user"] = str(alice.pk)
    session.save()
    assert client.get("/t/acme/")["Location"] == "/me/security"


def test_a_token_is_refused_until_its_person_has_what_the_team_wants(
    team: Team, bob: User, session: Session, provider: IdentityProvider
) -> None:
    row, secret = make_token(bob, team)
    bearer = {"authorization": f"Bearer {secret}"}
    client = Client(headers=bearer)
    principal = authenticate_header(f"Bearer {secret}")
    assert principal is not None
    assert is_live(principal)
    require(team, mfa=True)
    for route in ("/session", f"/session/{session.pk}", "/event", "/api/session"):
        answer = client.get(route)
        assert answer.status_code == 403, route
        assert "Acme requires multi-factor authentication." in answer.content.decode()
    # Streams and terminals that are open look again, and tickets were for a person who had it.
    assert not is_live(principal)
    assert resume_principal(bob, token_id=row.pk) is None
    Authenticator.objects.create(user=bob, type="recovery_codes", data={})
    assert client.get("/session").status_code == 403
    Authenticator.objects.create(user=bob, type="totp", data={})
    assert client.get("/session").status_code == 200
    require(team, sso=True)
    assert client.get("/session").status_code == 403
    SocialAccount.objects.create(user=bob, provider="corp", uid="1")
    assert client.get("/session").status_code == 200
    IdentityProvider.objects.update(is_enabled=False)
    assert client.get("/session").status_code == 403


def test_a_browser_that_is_kept_out_makes_no_token_that_gets_in(
    team: Team, bob: User, provider: IdentityProvider
) -> None:
    SocialAccount.objects.create(user=bob, provider="corp", uid="1")
    require(team, sso=True)
    closed, opened = client_of(bob, "password"), client_of(bob, "socialaccount")
    form = {"name": "laptop", "team": team.pk, "scope": "admin", "days": "90"}
    wanted = {"name": "laptop", "scope": "admin", "team": "acme"}
    refused = closed.post("/me/tokens", form)
    assert refused.status_code == 422
    assert "Acme requires single sign-on." in refused.content.decode()
    assert closed.post("/token", wanted, "application/json").status_code == 403
    assert not bob.api_tokens.exists()
    assert opened.post("/me/tokens", form).status_code == 200
    assert opened.post("/token", wanted, "application/json").status_code == 200
    assert bob.api_tokens.count() == 2


def test_a_provider_can_count_as_the_second_factor(
    team: Team, bob: User, provider: IdentityProvider
) -> None:
    require(team, mfa=True)
    _, secret = make_token(bob, team)
    client = Client(headers={"authorization": f"Bearer {secret}"})
    SocialAccount.objects.create(user=bob, provider="corp", uid="1")
    assert client.get("/session").status_code == 403
    IdentityProvider.objects.update(counts_as_mfa=True)
    assert client.get("/session").status_code == 200


def test_service_accounts_are_exempt(team: Team, alice: User) -> None:
    access = access_team(alice, team.pk)
    service = create_service(access, name="ci", role=Role.MEMBER).user
    _, secret = make_token(service, team)
    require(team, mfa=True, sso=True)
    client = Client(headers={"authorization": f"Bearer {secret}"})
    assert client.get("/session").status_code == 200


def test_other_teams_stay_open(team: Team, bob: User) -> None:
    other = make_team(make_user("zoe@example.com"), name="Open", slug="open")
    add_member(other, bob)
    require(team, mfa=True)
    client = client_of(bob)
    assert client.get("/t/open/").status_code == 200
    bob.sign_in = SignIn()
    assert live_team_ids(authenticate_user(bob, browser=None)) == {other.pk}


async def test_sockets_and_streams_of_a_browser_are_closed(
    team: Team, bob: User, session: Session
) -> None:
    def cookie(*methods: str) -> bytes:
        key = client_of(bob, *methods).cookies[django_settings.SESSION_COOKIE_NAME].value
        return f"{django_settings.SESSION_COOKIE_NAME}={key}".encode()

    async def first_of(path: str, cookie: bytes) -> dict[str, Any]:
        headers = [(b"host", b"localhost"), (b"origin", b"http://localhost"), (b"cookie", cookie)]
        socket = WebsocketCommunicator(websocket_application, path, headers)
        await socket.connect()
        message: dict[str, Any] = await socket.receive_output(5)
        if not socket.future.done():
            await socket.disconnect()
        return message

    path = f"/ws/?team=acme&session={session.pk}"
    await in_db(require, team, mfa=True)
    message = await first_of(path, await in_db(cookie, "password"))
    assert (message["type"], message["code"]) == ("websocket.close", FORBIDDEN)
    message = await first_of(path, await in_db(cookie, "mfa"))
    assert "k" in json.loads(message["text"])


def test_a_ticket_of_a_browser_carries_its_sign_in(team: Team, bob: User) -> None:
    require(team, mfa=True)
    for methods, is_open in (((), False), (("mfa",), True)):
        key = client_of(bob, *methods).session.session_key
        bob.sign_in = None
        principal = resume_principal(bob, browser_key=BrowserSession(str(key)).key)
        assert principal is not None
        if is_open:
            access_team(principal.user, team.pk)
            continue
        with pytest.raises(PolicyUnmet):
            access_team(principal.user, team.pk)


def test_the_server_can_require_it_of_every_team_and_of_the_console(
    team: Team, alice: User, provider: IdentityProvider
) -> None:
    root = make_user("root@example.com", operator=True)
    User.objects.filter(pk=root.pk).update(is_staff=True)
    Authenticator.objects.create(user=root, type="totp", data={})
    set_instance_policy(root, mfa=True, sso=True, exempts_operators=False)
    later = make_team(alice, name="Later", slug="later")
    assert later.needs_mfa
    assert later.needs_sso
    for client in (client_of(root), client_of(root, "mfa"), client_of(root, "socialaccount")):
        for page in ("/ops/", "/admin/teams/user/"):
            assert client.get(page)["Location"] == "/me/security"
    assert client_of(root, "mfa", "socialaccount").get("/ops/").status_code == 200
    with pytest.raises(PolicyUnmet):
        set_instance_policy(root, mfa=False, sso=False, exempts_operators=True)
    root.sign_in = SignIn(mfa=True, providers=frozenset({"corp"}))
    # Break-glass: the provider is down, and somebody has to get in.
    set_instance_policy(root, mfa=True, sso=True, exempts_operators=True)
    assert client_of(root, "mfa").get("/ops/").status_code == 200
    assert client_of(root).get("/ops/")["Location"] == "/me/security"
    assert client_of(alice, "mfa").get("/t/acme/")["Location"] == "/me/security"
    set_instance_policy(root, mfa=False, sso=False, exempts_operators=True)
    assert client_of(alice).get("/t/acme/").status_code == 200


def test_only_owners_and_operators_change_the_policy(
    team: Team, alice: User, adam: User, provider: IdentityProvider
) -> None:
    with pytest.raises(Forbidden):
        set_team_policy(access_team(adam, team.pk), mfa=False, sso=False)
    with pytest.raises(Forbidden):
        set_instance_policy(alice, mfa=False, sso=False, exempts_operators=True)
    admin, owner = client_of(adam), client_of(alice)
    assert admin.post("/t/acme/settings/policy", {}).status_code == 403
    assert owner.post("/t/acme/settings/policy", {"requires_mfa": "on"}).status_code == 302
    team.refresh_from_db()
    assert team.requires_mfa
    # Not by an owner who does not meet it either: a stolen password is not enough.
    assert owner.post("/t/acme/settings/policy", {}).status_code == 403
    assert AuditEntry.objects.filter(action="policy.changed", team=team).count() == 1


def test_sso_is_not_required_where_there_is_no_provider(team: Team, alice: User) -> None:
    with pytest.raises(Invalid):
        set_team_policy(access_team(alice, team.pk), mfa=False, sso=True)


def test_the_last_factor_stays_where_one_is_required(team: Team, bob: User) -> None:
    key = Authenticator.objects.create(user=bob, type="webauthn", data={"name": "k"})
    require(team, mfa=True)
    client = Client()
    client.post("/login", {"login": bob.email, "password": PASSWORD})
    client = client_of(bob, "mfa")
    session = client.session
    session["account_authentication_methods"] = [
        {"method": "mfa", "reauthenticated": True, "at": 9e9}
    ]
    session.save()
    assert client.post(f"/me/security/keys/{key.pk}/remove").status_code == 409
    assert Authenticator.objects.filter(pk=key.pk).exists()
    require(team, mfa=False)
    assert client.post(f"/me/security/keys/{key.pk}/remove").status_code == 302
    assert not Authenticator.objects.exists()


def test_an_owner_names_the_provider_that_counts(
    team: Team, alice: User, bob: User, provider: IdentityProvider
) -> None:
    other = IdentityProvider.objects.create(slug="other", name="Other", kind="oidc")
    SocialAccount.objects.create(user=bob, provider="corp", uid="1")
    _, secret = make_token(bob, team)
    token = Client(headers={"authorization": f"Bearer {secret}"})
    owner, page = client_of(alice, "socialaccount"), "/t/acme/settings/policy"
    assert owner.post(page, {"requires_sso": "on", "sso_provider": "nothing"}).status_code == 422
    assert owner.post(page, {"requires_sso": "on", "sso_provider": "other"}).status_code == 302
    # Neither the browser of corp nor the token of who is connected to it.
    told = client_of(bob, "socialaccount").get("/t/acme/", follow=True).content.decode()
    assert "Acme requires single sign-on with Other." in told
    assert token.get("/session").status_code == 403
    SocialAccount.objects.create(user=bob, provider="other", uid="1")
    assert token.get("/session").status_code == 200
    # It is gone for good, and the requirement is not.
    root = make_user("root@example.com", operator=True)
    delete_provider(root, other)
    IdentityProvider.objects.create(slug="other", name="Other", kind="oidc")
    team.refresh_from_db()
    assert (team.requires_sso, team.sso_provider) == (True, "")
    assert token.get("/session").status_code == 200
    entry = AuditEntry.objects.filter(action="policy.changed", team=team).latest("pk")
    assert entry.told == {"before": [False, True, "other"], "after": [False, True, ""]}


def test_a_sign_in_counts_as_long_as_its_provider_is_enabled(
    team: Team, bob: User, provider: IdentityProvider
) -> None:
    require(team, sso=True)
    client = client_of(bob, "socialaccount")
    assert client.get("/t/acme/").status_code == 200
    IdentityProvider.objects.update(is_enabled=False)
    assert client.get("/t/acme/")["Location"] == "/me/security"
    assert client.get("/session").json() == []
    # Nor as a second factor.
    require(team, sso=False, mfa=True)
    IdentityProvider.objects.update(counts_as_mfa=True)
    assert client.get("/t/acme/")["Location"] == "/me/security"
    IdentityProvider.objects.update(is_enabled=True)
    assert client.get("/t/acme/").status_code == 200
