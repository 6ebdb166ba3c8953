from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.present.conversation.waiting import count_waiting
from teams.access import access_team
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}


def page(client: Client) -> str:
    return str(client.get("/t/acme/inbox").content.decode())


def test_what_waits_is_answered_in_place(
    session: Session, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    assert "Nothing needs your attention." in page(browser)
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    asked = story.questions("Which <colour>?", "Red", "Blue")
    html = page(browser)
    assert "Which &lt;colour&gt;?" in html
    assert f'href="/t/acme/s/{session.pk}"' in html
    url = f"/t/acme/s/{session.pk}/question/{asked}"
    assert f'hx-post="{url}"' in html
    browser.post(url, {"dismiss": "1"}, headers=HTMX)
    assert QuestionRequest.objects.get(pk=asked).status != QuestionRequest.Status.PENDING
    fragment = browser.get("/t/acme/inbox", headers=HTMX).content.decode()
    assert fragment.lstrip().startswith('<div id="inbox"')
    assert "Nothing needs your attention." in fragment


def test_many_sessions_take_as_many_statements_as_one(
    session: Session, alice: User, vera: User, client_for: ClientFor
) -> None:
    rows = [session, *(make_session(alice, session.project) for _ in range(4))]
    counts = []
    for row in rows:
        story = Story(row, alice)
        story.ask("hi")
        story.answer()
        story.waits("rm -r build")
        browser = client_for(vera)
        with CaptureQueriesContext(connection) as statements:
            html = page(browser)
        counts.append(len(statements))
    assert html.count('class="permission"') == len(rows)
    assert PermissionRequest.objects.count() == len(rows)
    assert max(counts[1:]) <= counts[0]


def test_only_what_a_person_can_answer_is_counted_for_them(
    session: Session, alice: User, bob: User, vera: User, client_for: ClientFor
) -> None:
    for row, kind in ((session, "budget"), (make_session(alice, session.project), "bash")):
        story = Story(row, alice)
        story.ask("hi")
        story.answer()
        story.waits("rm -r build")
        PermissionRequest.objects.filter(session=row).update(permission=kind)
    dear, cheap = session.pk, row.pk
    assert count_waiting(Session.objects.all()) == {"owner": 2, "admin": 2, "member": 1}
    # What each sees first, and what below "Waiting for others".
    for person, mine, others in (
        (alice, {dear, cheap}, set[str]()),
        (bob, {cheap}, {dear}),
        (vera, set[str](), {dear, cheap}),
    ):
        for url, kind in (("inbox?quiet=1", "inbox"), ("rail", "row")):
            html = client_for(person).get(f"/t/acme/{url}", headers=HTMX).content.decode()
            first, _, second = html.partition("Waiting for others")
            for ids, part in ((mine, first), (others, second)):
                assert ids == {one for one in (dear, cheap) if f'id="{kind}-{one}"' in part}
            count = rf'class="chip chip-ask"(?: data-inbox)?>{len(mine)}</span>'
            assert bool(re.search(count, html)) is bool(mine)
        board = client_for(person).get("/t/acme/board").content.decode()
        assert ('data-group="others"' in board.split('id="board"')[1]) is bool(others)


def test_other_teams_see_nothing_of_it(
    session: Session, alice: User, charlie: User, client_for: ClientFor
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    story.questions("Which colour?", "Red")
    assert client_for(charlie).get("/t/acme/inbox").status_code == 404


def test_what_waits_is_answered_on_the_home_page_too(
    session: Session, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    home = str(browser.get("/t/acme/").content.decode())
    assert 'data-refresh="/t/acme/inbox?quiet=1"' in home
    assert 'aria-label="Waiting" hidden>' in home
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    asked = story.questions("Which colour?", "Red", "Blue")
    home = str(browser.get("/t/acme/").content.decode())
    assert f'hx-post="/t/acme/s/{session.pk}/question/{asked}"' in home
    assert f'id="card-{session.pk}"' not in home
    fragment = browser.get("/t/acme/inbox?quiet=1", headers=HTMX).content.decode()
    assert 'aria-label="Waiting">' in fragment
    browser.post(f"/t/acme/s/{session.pk}/question/{asked}", {"dismiss": "1"}, headers=HTMX)
    assert " hidden>" in browser.get("/t/acme/inbox?quiet=1", headers=HTMX).content.decode()
    assert f'id="card-{session.pk}"' in browser.get("/t/acme/").content.decode()


def test_a_row_allows_only_what_it_shows_whole(
    session: Session, alice: User, client_for: ClientFor
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    short, long = story.waits("rm -r build"), story.waits("echo one\nrm -r /")
    html = str(client_for(alice).get("/t/acme/inbox?quiet=1", headers=HTMX).content.decode())
    assert html.count('class="waiting-row"') == 2
    rows = {name: html.split(f'id="waiting-{name}"')[1] for name in (short, long)}
    once = 'class="waiting-once" action="{}"'
    url = f"/t/acme/s/{session.pk}/permission/"
    assert once.format(url + short) in rows[short]
    assert once.format(url + long) not in rows[long]
    # Its card has it.
    assert f'class="permission-once" action="{url}{long}"' in rows[long]


def test_rows_take_as_many_statements_as_one(
    session: Session, alice: User, client_for: ClientFor
) -> None:
    counts = []
    browser = client_for(alice)
    for row in [session, *(make_session(alice, session.project) for _ in range(4))]:
        story = Story(row, alice)
        story.ask("hi")
        story.answer()
        story.waits("rm -r build")
        with CaptureQueriesContext(connection) as statements:
            html = str(browser.get("/t/acme/").content.decode())
        counts.append(len(statements))
    assert html.count('class="waiting-once"') == len(counts)
    assert max(counts[1:]) <= counts[0]


def test_what_needs_a_second_person_needs_nobody_who_has_prompted(
    session: Session, alice: User, bob: User, vera: User, client_for: ClientFor
) -> None:
    story = Story(session, bob)
    story.ask("hi")
    story.answer()
    story.waits("rm -r build")
    asked = PermissionRequest.objects.get(session=session)
    PermissionRequest.objects.filter(pk=asked.pk).update(second_person=True)
    assert count_waiting(Session.objects.all()) == {str(alice.pk): 1}
    for person, is_theirs in ((alice, True), (bob, False), (vera, False)):
        assert bool(count_waiting(Session.objects.all(), access_team(person, "acme"))) is is_theirs
        browser = client_for(person)
        for page_name in ("rail", "inbox?quiet=1", "board"):
            html = browser.get(f"/t/acme/{page_name}", headers=HTMX).content.decode()
            first, _, second = html.partition("Waiting for others")
            assert (session.pk in first) is is_theirs, page_name
            assert (session.pk in second) is not is_theirs, page_name
        html = browser.get("/t/acme/rail", headers=HTMX).content.decode()
        assert f'data-answerers="{alice.pk}"' in html
        for page_name in ("inbox", "inbox?quiet=1"):
            html = browser.get(f"/t/acme/{page_name}", headers=HTMX).content.decode()
            assert ("Allow once" in html) is is_theirs
        header = browser.get(f"/t/acme/s/{session.pk}").content.decode()
        assert "Waiting for a second person" in header
    # What any member can answer is everybody's again.
    story.waits("ls")
    for person, is_theirs in ((alice, True), (bob, True), (vera, False)):
        html = client_for(person).get("/t/acme/rail", headers=HTMX).content.decode()
        assert (session.pk in html.partition("Waiting for others")[0]) is is_theirs
