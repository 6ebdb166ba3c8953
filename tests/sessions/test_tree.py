from __future__ import annotations

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
