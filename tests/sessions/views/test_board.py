from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions.actions.fork import fork_session
from sessions.actions.reviews import mark_viewed
from sessions.models import Checkout, ComparedSession, Project, Session
from teams.models import User
from tests.factories import make_team
from tests.sessions.factories import make_project, make_session, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/board"


@pytest.fixture
def browser(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


def columns(client: Client, query: str = "") -> dict[str, list[str]]:
    response = client.get(URL + query)
    assert response.status_code == 200
    board = response.content.decode().split('id="board"')[1].split("</main>")[0]
    parts = re.split(r'<section class="board-column" data-group="(\w+)"', board)[1:]
    return {
        key: re.findall(r'id="card-(ses_\w+)"', html)
        for key, html in zip(parts[::2], parts[1::2], strict=True)
    }


def begun(session: Session, author: User) -> Story:
    story = Story(session, author)
    story.ask("hi")
    story.answer()
    return story


def finished(session: Session, author: User, *, changed: bool = True) -> Session:
    begun(session, author).finish(changed=changed)
    session.refresh_from_db()
    return session


def place(session: Session, **fields: object) -> None:
    Checkout.objects.update_or_create(
        id=session.project_id,
        defaults={"project": session.project, "state": "project", **fields},
    )


def test_each_session_stands_in_the_column_of_what_is_to_be_done(
    browser: Client, alice: User, project: Project
) -> None:
    new, asks, runs, changed, said = (make_session(alice, project) for _ in range(5))
    begun(asks, alice).waits("ls")
    begun(runs, alice)
    finished(changed, alice)
    finished(said, alice, changed=False)
    found = columns(browser)
    assert found == {"ask": [asks.pk], "run": [runs.pk], "review": [changed.pk], "done": [said.pk]}
    assert new.pk not in str(found)
    Session.objects.filter(pk=changed.pk).update(archived_at=timezone.now())
    assert columns(browser)["review"] == []


def test_changes_are_done_once_the_person_has_viewed_them_until_they_change_again(
    browser: Client, client_for: ClientFor, alice: User, bob: User, session: Session
) -> None:
    finished(session, alice)
    mark_viewed(session_access(alice, session), path="till.py", digest="one", viewed=True)
    assert columns(browser)["done"] == [session.pk]
    assert columns(client_for(bob))["review"] == [session.pk]
    # A turn that changes nothing leaves it there.
    finished(session, alice, changed=False)
    assert columns(browser)["done"] == [session.pk]
    finished(session, alice)
    assert columns(browser)["review"] == [session.pk]
    mark_viewed(session_access(alice, session), path="till.py", digest="two", viewed=True)
    assert columns(browser)["done"] == [session.pk]


def test_changes_are_done_once_they_are_committed(
    browser: Client, alice: User, session: Session
) -> None:
    finished(session, alice)
    now = timezone.now() + timedelta(seconds=5)
    for fields, column in (
        ({"dirty": 1, "looked_at": now}, "review"),
        ({"dirty": 0, "looked_at": session.active_at - timedelta(seconds=1)}, "review"),
        ({"dirty": 0, "looked_at": now}, "done"),
    ):
        place(session, **fields)
        assert columns(browser)[column] == [session.pk]
    Session.objects.filter(pk=session.pk).update(folder="/srv/own")
    assert columns(browser)["review"] == [session.pk]
    Checkout.objects.create(
        id=session.pk, session=session, project=session.project, branch="b", state="dropped"
    )
    assert columns(browser)["done"] == [session.pk]


def test_forks_of_one_session_stand_together(
    browser: Client, alice: User, project: Project
) -> None:
    first = finished(make_session(alice, project, title="Mend the till"), alice)
    between = finished(make_session(alice, project), alice)
    second = fork_session(session_access(alice, first))
    third = fork_session(session_access(alice, second))
    assert (second.origin, third.origin) == (first.pk, first.pk)
    assert_log_equals_rows(third)
    assert columns(browser)["review"] == [third.pk, second.pk, first.pk, between.pk]
    together = '>Mend the till <span class="meta">{} sessions</span></h3>'
    page = browser.get(URL).content.decode()
    assert together.format(3) in page
    for fork in (second, third):
        for place in ("row", "card"):
            assert "<b>Fork of Mend the till</b>" in page.split(f'id="{place}-{fork.pk}"')[1][:1500]
    shown = browser.get(f"/t/acme/s/{third.pk}").content.decode()
    link = f'<a href="/t/acme/s/{first.pk}">'
    assert f"<dt>Fork of</dt><dd>{link}Mend the till</a>" in shown
    assert f"{link}Fork of Mend the till</a>" in shown
    first.delete()
    page = browser.get(URL).content.decode()
    assert together.format(2) in page
    assert "Fork of" not in page


def test_what_a_fork_was_made_of_is_not_told_in_another_team(
    browser: Client, alice: User, project: Project, tmp_path: Path
) -> None:
    first = finished(make_session(alice, project, title="Mend the till"), alice)
    fork = fork_session(session_access(alice, first))
    Session.objects.filter(pk=first.pk).update(
        project=make_project(make_team(alice, slug="other"), tmp_path)
    )
    assert "Fork of" not in browser.get(URL).content.decode()
    assert "Fork of" not in browser.get(f"/t/acme/s/{fork.pk}").content.decode()


def test_attempts_at_one_prompt_and_their_forks_stand_together(
    browser: Client, alice: User, project: Project
) -> None:
    tries = [finished(make_session(alice, project), alice) for _ in range(2)]
    ComparedSession.objects.bulk_create(
        ComparedSession(session=one, group=tries[0].pk, place=place)
        for place, one in enumerate(tries)
    )
    fork = fork_session(session_access(alice, tries[1]))
    page = browser.get(URL).content.decode()
    family = page.split('class="board-family"')[1].split("</ul>")[0]
    assert re.findall(r'id="card-(ses_\w+)"', family) == [fork.pk, tries[1].pk, tries[0].pk]
    assert f'href="/t/acme/s/{tries[1].pk}/compare"' in family


def test_the_board_is_filtered_as_the_list_is(
    browser: Client, client_for: ClientFor, bob: User, project: Project, session: Session
) -> None:
    finished(session, bob)
    own = finished(make_session(bob, project, title="Bob's own"), bob)
    bobs = client_for(bob)
    assert columns(bobs, "?who=mine")["review"] == [own.pk]
    # It is remembered, and holds for the list beside it.
    assert columns(bobs)["review"] == [own.pk]
    page = bobs.get(URL).content.decode()
    assert f'id="row-{session.pk}"' not in page
    assert f'action="{URL}"' in page
    assert len(columns(bobs, f"?who=team&project={project.pk}")["review"]) == 2
    assert columns(bobs, "?who=team&project=prj_other")["review"] == []
    assert columns(browser, "?who=team&project=&text=own")["review"] == [own.pk]
    refresh = re.search(r'id="board" class="board" data-refresh="([^"]+)"', page)
    assert refresh is not None
    again = bobs.get(refresh[1].replace("&amp;", "&"), headers={"HX-Request": "true"})
    text = again.content.decode()
    assert text.lstrip().startswith('<div id="board"')
    assert own.pk in text
    assert session.pk not in text


@pytest.mark.deep
def test_more_sessions_take_no_more_statements(
    browser: Client, alice: User, project: Project
) -> None:
    counts = []
    for _ in range(4):
        begun(make_session(alice, project), alice).waits("ls")
        begun(make_session(alice, project), alice)
        done = finished(make_session(alice, project), alice)
        mark_viewed(session_access(alice, done), path="till.py", digest="one", viewed=True)
        finished(make_session(alice, project), alice)
        fork_session(session_access(alice, done))
        with CaptureQueriesContext(connection) as statements:
            columns(browser)
        counts.append(len(statements))
    assert max(counts[1:]) <= counts[0]


def test_other_teams_and_billing_see_nothing_of_it(
    client_for: ClientFor, vera: User, charlie: User, bill: User, session: Session, alice: User
) -> None:
    finished(session, alice)
    assert columns(client_for(vera))["review"] == [session.pk]
    assert client_for(charlie).get(URL).status_code == 404
    assert client_for(bill).get(URL).status_code == 404
