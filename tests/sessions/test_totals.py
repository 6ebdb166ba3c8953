from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.template.loader import render_to_string

from sessions.events.messages import CacheTokens, Tokens
from sessions.events.types import SessionUsed
from sessions.models import Project, Session
from sessions.present.sessions import build_header
from sessions.totals import Used, used_below
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import write

ONE = Decimal("0.0000000001")


def use(session: Session, cost: Decimal, **more: Any) -> None:
    tokens = Tokens(input=100, output=20, reasoning=3, cache=CacheTokens(read=40, write=5))
    write(session, SessionUsed(cost=cost, tokens=tokens, **more))
    session.refresh_from_db()


def test_the_tree_of_a_session_adds_up_exactly(
    alice: User, session: Session, project: Project, django_assert_num_queries: Any
) -> None:
    children = [make_session(alice, project, parent=session) for _ in range(2)]
    grandchild = make_session(alice, project, parent=children[0])
    make_session(alice, project)
    for each in (session, *children, grandchild, grandchild):
        use(each, Decimal("0.1") + ONE)
    with django_assert_num_queries(1):
        below = used_below(session)
    assert below == Used(Decimal("0.4") + 4 * ONE, 4 * 168)
    assert used_below(children[0]) == Used(Decimal("0.2") + 2 * ONE, 2 * 168)
    assert used_below(children[1]) == used_below(grandchild) == Used()


def meter(session: Session) -> str:
    return render_to_string(
        "sessions/_meter.html", {"session": build_header(session, used_below(session))}
    )


def test_the_meter_names_what_sub_agents_cost(
    alice: User, session: Session, project: Project
) -> None:
    use(session, Decimal("0.30"))
    assert "sub-agents" not in meter(session)
    use(make_session(alice, project, parent=session), Decimal("0.12"))
    shown = meter(session)
    assert "$0.42" in shown
    assert "including sub-agents $0.12" in shown


def test_the_meter_shows_how_full_the_context_is(session: Session) -> None:
    assert "context in use" not in meter(session)
    use(session, Decimal(0), context=150_000, context_limit=200_000)
    shown = meter(session)
    assert "75 %" in shown
    assert 'data-band="high"' in shown
    # A title's request is no part of the conversation.
    use(session, Decimal(0))
    assert (session.context_tokens, session.context_limit) == (150_000, 200_000)
    use(session, Decimal(0), context=150_000, context_limit=0)
    assert "context in use" not in meter(session)
