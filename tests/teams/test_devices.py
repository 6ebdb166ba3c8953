from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session as StoredSession
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from teams.actions.browsers import browsers_of
from teams.models import AuditEntry, Role, Team, User
from teams.views.devices import browser_of, system_of
from tests.factories import PASSWORD, add_member, make_browser, make_user

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0"
)


@pytest.fixture
def phone(alice: User) -> Client:
    client = Client(headers={"user-agent": SAFARI}, REMOTE_ADDR="203.0.113.7")
    client.post("/login", {"login": alice.email, "password": PASSWORD})
    return client


@pytest.fixture
def desk(alice: User) -> Client:
    client = Client(headers={"user-agent": FIREFOX})
    client.force_login(alice)
    return client


def test_a_browser_is_named(subtests: pytest.Subtests) -> None:
    cases = [
        (FIREFOX, "Firefox", "Linux"),
        (SAFARI, "Safari", "iOS"),
        (EDGE, "Edge", "Windows"),
        (EDGE.removesuffix(" Edg/142.0.0.0"), "Chrome", "Windows"),
        ("curl/8.5.0", "", ""),
        ("", "", ""),
    ]
    for user_agent, browser, system in cases:
        with subtests.test(user_agent=user_agent):
            assert (browser_of(user_agent), system_of(user_agent)) == (browser, system)


def test_both_browsers_are_listed_and_which_is_in_hand(phone: Client, desk: Client) -> None:
    page = desk.get("/me/devices").content.decode()
    assert page.index("Firefox on Linux") < page.index("This browser") < page.index("Safari on iOS")
    assert page.count("This browser") == 1
    assert "203.0.113.7" in page
    for client in (phone, desk):
        assert client.session.session_key
        assert client.session.session_key not in page


def test_what_a_browser_says_of_itself_is_no_markup(alice: User) -> None:
    client = Client(headers={"user-agent": "<script>Firefox/1"})
    client.force_login(alice)
    assert "<script>Firefox" not in client.get("/me/devices").content.decode()


def test_one_is_signed_out_and_recorded(phone: Client, desk: Client, alice: User) -> None:
    row = UserSession.objects.get(user_agent=SAFARI)
    assert desk.post(f"/me/devices/{row.pk}").status_code == 302
    assert phone.get("/me/devices")["Location"].startswith("/login")
    page = desk.get("/me/devices").content.decode()
    assert "Signed out Safari on iOS." in page
    entry = AuditEntry.objects.get(action="user.signed_out")
    assert (entry.actor, entry.team_id) == (alice, None)
    assert entry.told == {"user_agent": SAFARI, "address": "203.0.113.7"}


def test_all_others_are_signed_out(phone: Client, desk: Client, alice: User, bob: User) -> None:
    theirs = make_browser(bob)
    desk.post("/me/devices/others")
    assert "Signed out 1 other browser." in desk.get("/me/devices").content.decode()
    assert phone.get("/me/devices").status_code == 302
    assert [row.user_agent for row in browsers_of(alice)] == [FIREFOX]
    assert browsers_of(bob) == [theirs]


def test_all_others_are_signed_out_from_where_people_look_for_it(desk: Client, alice: User) -> None:
    for url in ("/me/devices", reverse("mfa_index")):
        page = desk.get(url).content.decode()
        assert "Sign out everywhere else" in page
        assert 'action="/me/devices/others"' in page
    desk.post("/me/devices/others")
    assert "Signed out 0 other browsers." in desk.get("/me/devices").content.decode()


def test_signing_out_the_browser_in_hand_leads_to_the_sign_in(desk: Client, alice: User) -> None:
    desk.get("/me/devices")
    row = UserSession.objects.get(user=alice)
    assert desk.post(f"/me/devices/{row.pk}")["Location"] == "/login"
    assert browsers_of(alice) == []


def test_an_other_persons_browser_is_not_found(desk: Client, bob: User) -> None:
    row = make_browser(bob)
    assert desk.post(f"/me/devices/{row.pk}").status_code == 404
    assert StoredSession.objects.filter(session_key=row.session_key).exists()
    assert "203.0.113.9" not in desk.get("/me/devices").content.decode()


def test_a_new_password_leaves_only_the_browser_that_gave_it(
    phone: Client, desk: Client, alice: User
) -> None:
    desk.get("/me/devices")
    since = UserSession.objects.get(user_agent=FIREFOX).created_at
    data = {"current": PASSWORD, "password": "another-long-phrase"}
    assert desk.post("/me/password", data).status_code == 302
    page = desk.get("/me/devices").content.decode()
    assert "Safari" not in page
    assert [row.created_at for row in browsers_of(User.objects.get(pk=alice.pk))] == [since]


def test_it_is_written_down_once_in_a_while_and_not_at_every_request(
    desk: Client, team: Team, django_assert_num_queries: Callable[..., object]
) -> None:
    desk.get("/me/devices")
    seen = UserSession.objects.get().last_seen_at
    # The browser's session, the person, the rows, and which of them are live; for the bar the
    # team that it leads to, and the others.
    with django_assert_num_queries(6):
        desk.get("/me/devices")
    assert UserSession.objects.get().last_seen_at == seen


def test_admins_see_the_browsers_of_members_and_nobody_else_does(
    phone: Client, alice: User, adam: User, bob: User, charlie: User, client_for: ClientFor
) -> None:
    theirs = make_browser(charlie)
    signed_out = make_browser(bob)
    StoredSession.objects.filter(session_key=signed_out.session_key).delete()
    for row, agent in ((theirs, EDGE), (signed_out, EDGE)):
        UserSession.objects.filter(pk=row.pk).update(user_agent=agent)
    phone.get("/me/devices")
    page = client_for(adam).get("/t/acme/settings/members").content.decode()
    assert f"{alice.display_name}: Safari on iOS" in page
    assert "last used today" in page
    # Neither of another team nor signed out; addresses are for the person and operators.
    assert "Edge on Windows" not in page
    assert "203.0.113.7" not in page
    assert "Safari" not in client_for(bob).get("/t/acme/settings/members").content.decode()


def test_the_browsers_of_many_members_cost_no_more_queries(
    adam: User, team: Team, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    with CaptureQueriesContext(connection) as few:
        browser.get("/t/acme/settings/members")
    for number in range(5):
        person = make_user(f"one{number}@example.com")
        add_member(team, person, Role.MEMBER)
        make_browser(person)
    with CaptureQueriesContext(connection) as many:
        browser.get("/t/acme/settings/members")
    assert len(many) <= len(few)
