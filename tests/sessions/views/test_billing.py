from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.actions.shares import create_share
from sessions.models import Session
from sessions.shares.links import share_token
from teams.models import Membership, Role, Team, User
from tests.factories import make_team, make_usage
from tests.sessions.factories import session_access

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
T = "/t/acme/"
PAGES = (T + "usage", T + "settings/budgets", T + "settings/members", T + "settings/roles")
LINK = re.compile(r'<a [^>]*?href="([^"#]+)')


def test_billing_comes_to_the_usage_and_changes_budgets(
    bill: User, bob: User, team: Team, client_for: ClientFor
) -> None:
    make_usage(team, bob, cost=3)
    browser = client_for(bill)
    shown = browser.get("/", follow=True)
    assert shown.redirect_chain == [(T, 302), (T + "usage", 302)]
    page = shown.content.decode()
    assert "$3.00" in page
    assert "bob@example.com" in page
    csv = browser.get(T + "usage.csv").content.decode()
    assert "bob@example.com" in csv
    assert browser.post(T + "settings/budgets", {"team": "12"}).status_code == 302
    assert "$3.00 of $12.00" in browser.get(T + "settings/budgets").content.decode()
    assert browser.get(T + "settings/", follow=True).redirect_chain[-1][0] == PAGES[2]


def test_every_link_that_billing_is_shown_opens(
    bill: User, session: Session, team: Team, client_for: ClientFor
) -> None:
    make_usage(team, bill, cost=3, project=session.project_id)
    browser = client_for(bill)
    links = {link for page in PAGES for link in LINK.findall(browser.get(page).content.decode())}
    assert {T, T + "search", *PAGES, T + "settings/leave", "/me/tokens"} <= links
    inside = {link for link in links if link.startswith("/")}
    codes = {link: browser.get(link, follow=True).status_code for link in inside}
    assert {link: code for link, code in codes.items() if code != 200} == {}
    page = browser.get(PAGES[0]).content.decode()
    assert 'data-command="home"' in page
    assert 'data-command="inbox"' not in page
    # Nothing keeps a line open that would be refused.
    assert "data-rail " not in page
    assert "data-save" not in page


def test_a_session_is_not_there_for_billing_whether_it_exists_or_not(
    alice: User, bill: User, session: Session, team: Team, client_for: ClientFor
) -> None:
    browser = client_for(bill)
    said = [browser.get(f"{T}s/{one}") for one in (session.pk, "ses_none")]
    assert [one.status_code for one in said] == [404, 404]
    texts = [
        re.sub(r'(nonce|csrf)[^>]*|"[\w/.-]*ses_[^"]*"', "", one.content.decode()) for one in said
    ]
    assert "Your role in Acme is billing contact" in texts[0]
    assert session.title not in texts[0]
    team.config = {"sharing": {"links": "public"}}
    team.save()
    link = create_share(session_access(alice, session), scope="team", days=1, details=True)
    address = f"/share/{share_token(link.pk)}"
    assert client_for(alice).get(address).status_code == 200
    assert browser.get(address).status_code == 404


def test_who_works_in_one_team_and_pays_in_another_sees_only_the_first_ones_work(
    alice: User, bill: User, session: Session, client_for: ClientFor
) -> None:
    own = make_team(bill, name="Own")
    browser = client_for(bill)
    assert browser.get("/t/own/").status_code == 200
    assert browser.get(f"/t/own/s/{session.pk}").status_code == 404
    assert browser.get("/session").json() == []
    assert browser.get("/project").json() == []
    # Named by nobody, it is the one team whose work is seen.
    assert browser.get("/global/config").status_code == 200
    assert browser.get("/usage").status_code == 400
    assert browser.get("/usage?team=acme").status_code == 200
    switcher = browser.get("/t/own/").content.decode()
    assert 'href="/t/acme/"' in switcher
    Membership.objects.filter(team=own).update(role=Role.BILLING)
    assert browser.get("/global/config").status_code == 400
