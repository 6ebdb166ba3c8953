from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from teams.actions.attempts import OF_ADDRESS
from teams.http import INVITE
from teams.identity.accounts import InviteOnlyAdapter
from teams.models import Invite, Team, User
from tests.factories import PASSWORD, make_failures, make_invite, make_team, make_user

pytestmark = pytest.mark.django_db


def sign_in(client: Client, email: str, password: str = PASSWORD, query: str = "") -> object:
    return client.post(f"/login{query}", {"login": email, "password": password})


@pytest.mark.parametrize("email", ["alice@example.com", "Alice@Example.COM"])
def test_sign_in_leads_to_the_team(email: str, client: Client, team: Team) -> None:
    response = sign_in(client, email)
    assert response.status_code == 302  # type: ignore[attr-defined]
    assert response["Location"] == "/"  # type: ignore[index]
    assert client.get("/")["Location"] == "/t/acme/"


@pytest.mark.parametrize(
    ("email", "password"),
    [("alice@example.com", "wrong"), ("nobody@example.com", PASSWORD), ("", ""), ("x", "y")],
)
def test_a_wrong_sign_in_is_422_and_says_the_same(
    email: str, password: str, client: Client, team: Team
) -> None:
    response = client.post("/login", {"login": email, "password": password})
    assert response.status_code == 422
    assert "_auth_user_id" not in client.session
    if "@" in email:
        assert b"The e-mail address or the password is not correct." in response.content
    assert password.encode() not in response.content or len(password) < 2


def test_an_inactive_person_stays_out(client: Client) -> None:
    make_user("gone@example.com", active=False)
    response = client.post("/login", {"login": "gone@example.com", "password": PASSWORD})
    assert "_auth_user_id" not in client.session
    assert response.status_code == 302
    assert client.get(response["Location"]).status_code == 200


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/me/tokens", "/me/tokens"),
        ("//evil.example", "/"),
        ("https://evil.example/x", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("\thttps://evil.example", "/"),
    ],
)
def test_next_never_leaves_the_server(
    target: str, expected: str, client: Client, team: Team
) -> None:
    response = client.post(
        "/login", {"login": "alice@example.com", "password": PASSWORD, "next": target}
    )
    assert response["Location"] == expected


def test_next_survives_a_wrong_password(client: Client, team: Team) -> None:
    response = client.post(
        "/login", {"login": "alice@example.com", "password": "x", "next": "/me/tokens"}
    )
    assert b'name="next" value="/me/tokens"' in response.content


def test_guessing_a_password_is_slowed_down(client: Client, team: Team) -> None:
    answers = [sign_in(client, "alice@example.com", f"wrong-{n}") for n in range(6)]
    assert [answer.status_code for answer in answers] == [422] * 5 + [429]  # type: ignore[attr-defined]
    blocked = client.post("/login", {"login": "Alice@example.com", "password": PASSWORD})
    assert blocked.status_code == 429
    assert 25 <= int(blocked["Retry-After"]) <= 30
    assert b"Too many failed attempts. Try again in a minute." in blocked.content
    # Neither from elsewhere nor for a colleague behind the same address.
    assert (
        client.post(
            "/login",
            {"login": "alice@example.com", "password": PASSWORD},
            REMOTE_ADDR="192.0.2.9",
        ).status_code
        == 302
    )
    make_user("bob@example.com")
    assert sign_in(Client(), "bob@example.com").status_code == 302  # type: ignore[attr-defined]


def test_a_client_that_makes_addresses_up_stays_one_client(client: Client, team: Team) -> None:
    def wrong(forwarded: str) -> int:
        data = {"login": "alice@example.com", "password": "wrong"}
        return client.post("/login", data, headers={"x-forwarded-for": forwarded}).status_code

    assert [wrong(f"198.51.100.{n}") for n in range(6)][-1] == 429


def test_the_present_password_is_no_way_around_the_limit(
    client_for: Callable[[User | None], Client], alice: User
) -> None:
    browser = client_for(alice)
    data = {"current": "wrong", "password": "another-long-phrase"}
    codes = [browser.post("/me/password", data).status_code for _ in range(6)]
    assert codes == [422] * 5 + [429]
    assert sign_in(Client(), alice.email).status_code == 429  # type: ignore[attr-defined]


def test_the_secret_of_an_invitation_is_not_guessed_for_long(client: Client, db: None) -> None:
    make_failures("invite", "127.0.0.1", OF_ADDRESS.free - 1)
    assert client.get("/invite/nothing").status_code == 404
    answer = client.get("/invite/nothing")
    assert answer.status_code == 429
    assert int(answer["Retry-After"]) > 0


def test_signing_out_needs_a_post(client_for: Callable[[User | None], Client], alice: User) -> None:
    client = client_for(alice)
    assert client.get("/logout").status_code == 200
    assert "_auth_user_id" in client.session
    assert client.post("/logout")["Location"] == "/login"
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("path", ["/login", "/logout", "/me/profile", "/teams/new"])
def test_posts_need_the_csrf_token(path: str, alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    if path != "/login":
        client.force_login(alice)
    response = client.post(path, {"login": alice.email, "password": PASSWORD, "name": "Mallory"})
    assert response.status_code == 403
    assert User.objects.get().name == "Alice"


def test_a_form_with_its_csrf_token_is_taken(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get("/login")
    token = client.cookies["csrftoken"].value
    data = {"login": alice.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
    assert client.post("/login", data).status_code == 302


def test_there_is_no_sign_up_route(client: Client) -> None:
    with pytest.raises(NoReverseMatch):
        reverse("account_signup")
    for path in ("/signup", "/signup/", "/accounts/signup/", "/register"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(("state", "is_open"), [("none", False), ("open", True), ("used", False)])
def test_sign_up_is_closed_without_an_invitation(
    state: str, is_open: bool, alice: User, team: Team, rf: RequestFactory
) -> None:
    invite, _ = make_invite(alice, team)
    request = rf.get("/")
    request.session = SessionStore()
    if state != "none":
        request.session[INVITE] = invite.pk
    if state == "used":
        Invite.objects.update(accepted_at=timezone.now())
    assert InviteOnlyAdapter().is_open_for_signup(request) is is_open


def test_home_asks_the_anonymous_to_sign_in_and_the_teamless_for_a_team(
    client_for: Callable[[User | None], Client],
) -> None:
    assert client_for(None).get("/")["Location"] == "/login?next=/"
    assert client_for(make_user("new@example.com")).get("/")["Location"] == "/teams/new"


def test_home_is_the_team_used_last(
    client_for: Callable[[User | None], Client], bob: User, team: Team
) -> None:
    client = client_for(bob)
    make_team(bob, name="Aardvark")
    client.get("/t/aardvark/")
    assert client.get("/")["Location"] == "/t/aardvark/"
    client.get("/t/acme/")
    assert client.get("/")["Location"] == "/t/acme/"
    bob.memberships.filter(team=team).delete()
    assert client.get("/")["Location"] == "/t/aardvark/"
