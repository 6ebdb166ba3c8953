from __future__ import annotations

from django.db import transaction

from sessions.events.store import lock_below
from sessions.models import Project, Session
from sessions.tree import sessions_below, tree_of
from teams.models import User
from tests.sessions.factories import make_session


def ids(sessions: object) -> set[str]:
    return {one.pk for one in sessions}  # type: ignore[attr-defined]


def test_a_tree_is_the_same_from_each_of_its_sessions(
    alice: User, session: Session, project: Project
) -> None:
    make_session(alice, project)
    child = make_session(alice, project, parent=session)
    other = make_session(alice, project, parent=session)
    grandchild = make_session(alice, project, parent=child)
    every = {session.pk, child.pk, other.pk, grandchild.pk}
    for one in (session, child, other, grandchild):
        assert ids(tree_of(one)) == every
    assert ids(sessions_below(session)) == every - {session.pk}
    assert ids(sessions_below(child)) == {grandchild.pk}
    assert sessions_below(other) == []


def test_those_below_come_level_by_level_as_they_are_locked(
    alice: User, session: Session, project: Project
) -> None:
    children = [make_session(alice, project, parent=session) for _ in range(2)]
    grandchildren = [make_session(alice, project, parent=one) for one in children]
    levels = [sorted(one.pk for one in level) for level in (children, grandchildren)]
    found = [one.pk for one in sessions_below(session)]
    assert found == [*levels[0], *levels[1]]
    with transaction.atomic():
        assert [one.pk for one in lock_below(session)] == found
        assert ids(lock_below(children[0])) == {grandchildren[0].pk}
