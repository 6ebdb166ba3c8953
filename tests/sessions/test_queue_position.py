from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from sessions import queue_position
from sessions.events.store import append, lock_session
from sessions.events.types import PermissionReplied, SessionStatus
from sessions.models import PermissionRequest, Project, Session
from sessions.runner.log.lease import runnable_sessions
from teams.models import User
from tests.factories import make_team
from tests.sessions.factories import make_project, make_session, prompt
from tests.sessions.runner.drains import take_up_and_begin
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db


def read_line(hosts: set[str] | None = None) -> dict[str, int]:
    return {one: place.number for one, place in queue_position.read_line(hosts).items()}


def places_of(sessions: list[Session]) -> dict[str, int]:
    return {one: place.number for one, place in queue_position.places_of(sessions).items()}


def wait(user: User, project: Project, *, since_s: float) -> Session:
    session = make_session(user, project)
    prompt(user, session, "Mend it")
    Session.objects.filter(pk=session.pk).update(
        state_since=timezone.now() - timedelta(seconds=since_s)
    )
    session.refresh_from_db()
    return session


def test_the_earliest_is_first_whosever_it_is(
    alice: User, charlie: User, project: Project, tmp_path: Path
) -> None:
    theirs = make_project(make_team(charlie, name="Initech", slug="initech"), tmp_path / "other")
    third = wait(alice, project, since_s=10)
    first = wait(alice, project, since_s=30)
    second = wait(charlie, theirs, since_s=20)
    assert read_line() == {first.pk: 1, second.pk: 2, third.pk: 3}
    assert [pk for pk, _ in runnable_sessions()] == [first.pk, second.pk, third.pk]
    assert places_of([first, third]) == {first.pk: 1, third.pk: 3}


def test_a_place_is_told_to_who_has_waited_for_a_while(alice: User, project: Project) -> None:
    before = wait(alice, project, since_s=30)
    fresh = wait(alice, project, since_s=0)
    assert read_line() == {before.pk: 1, fresh.pk: 0}
    assert places_of([fresh]) == {fresh.pk: 0}


def test_each_host_has_a_line_of_its_own(alice: User, project: Project, tmp_path: Path) -> None:
    other = make_project(project.team, tmp_path / "far", name="far")
    Project.objects.filter(pk=other.pk).update(host="elsewhere")
    other.refresh_from_db()
    here, there = wait(alice, project, since_s=30), wait(alice, other, since_s=20)
    assert read_line() == {here.pk: 1, there.pk: 1}
    assert read_line({"elsewhere"}) == {there.pk: 1}


def test_who_was_taken_up_has_left_it(alice: User, project: Project) -> None:
    first, second = (wait(alice, project, since_s=since_s) for since_s in (30, 20))
    assert take_up_and_begin(first.pk) is not None
    first.refresh_from_db()
    assert read_line() == {second.pk: 1}
    assert places_of([first, second]) == {second.pk: 1}


def test_who_goes_on_after_an_answer_stands_behind_those_who_came_before_it(
    alice: User, project: Project
) -> None:
    asked = make_session(alice, project)
    story = Story(asked, alice)
    story.ask("hi")
    story.answer()
    story.waits("make test")
    waits = wait(alice, project, since_s=30)
    assert read_line() == {waits.pk: 1}
    row = lock_session(asked.pk)
    request = PermissionRequest.objects.get(session=asked)
    append(row, [PermissionReplied(id=request.pk, reply="once")])
    assert list(read_line()) == [waits.pk, asked.pk]


def test_who_waits_for_people_stands_in_no_line(alice: User, project: Project) -> None:
    suspended = wait(alice, project, since_s=30)
    append(lock_session(suspended.pk), [SessionStatus(state="waiting", waits_for="person")])
    PermissionRequest.objects.create(
        id="per_1", session=suspended, permission="bash", created_at=timezone.now()
    )
    assert read_line() == {}


def test_one_query_finds_the_places_of_a_whole_list(
    alice: User, project: Project, django_assert_num_queries: object
) -> None:
    ids = [wait(alice, project, since_s=30 - n).pk for n in range(5)]
    sessions = list(Session.objects.select_related("project").filter(pk__in=ids))
    with django_assert_num_queries(4):  # type: ignore[operator]  # pytest-django's fixture
        assert sorted(places_of(sessions).values()) == [1, 2, 3, 4, 5]
