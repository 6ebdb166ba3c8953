from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from pydantic import ValidationError

from sessions.actions.sessions import delete_session
from sessions.events.messages import CacheTokens, Tokens
from sessions.events.replay import rebuild
from sessions.events.types import SessionUsed, parse_event
from sessions.models import Event, Project, Session
from teams.models import UsageEntry, User
from tests.sessions.factories import make_session, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn, write

pytestmark = pytest.mark.django_db
TOKENS = Tokens(input=100, output=20, reasoning=3, cache=CacheTokens(read=40, write=5))


def rows() -> list[dict[str, Any]]:
    return list(UsageEntry.objects.order_by("id").values())


def test_an_event_that_names_its_model_is_taken_at_its_word(bob: User, session: Session) -> None:
    tell_whole_turn(session, bob)
    names = {"provider_id": "acme", "model_id": "big", "prompt_id": "msg_1", "author_id": bob.pk}
    write(session, SessionUsed(cost=Decimal("0.5"), tokens=TOKENS, **names))
    row = UsageEntry.objects.get(model="big")
    assert row.id == f"{session.pk}.{Event.objects.filter(session=session).count()}"
    assert (row.provider, row.user_id, row.prompt, row.cost) == (
        "acme",
        bob.pk,
        "msg_1",
        Decimal("0.5"),
    )
    assert (row.input, row.output, row.reasoning) == (100, 20, 3)
    assert (row.cache_read, row.cache_write) == (40, 5)


def test_what_only_says_how_much_room_is_left_is_no_call(bob: User, session: Session) -> None:
    write(session, SessionUsed(cost=Decimal(0), tokens=Tokens(), context=10, context_limit=20))
    assert rows() == []


def test_an_older_event_counts_for_the_newest_answer(
    alice: User, bob: User, session: Session
) -> None:
    write(session, SessionUsed(cost=Decimal("0.1"), tokens=TOKENS))  # before any answer
    tell_whole_turn(session, bob)
    first, second = rows()[0], UsageEntry.objects.get(cost=Decimal("0.14"))
    assert (first["model"], first["user_id"]) == ("", alice.pk)
    assert (second.model, second.user_id) == ("inline", bob.pk)
    assert_log_equals_rows(session)


def test_the_migration_makes_of_older_logs_what_folding_does(
    alice: User, bob: User, session: Session, project: Project
) -> None:
    write(session, SessionUsed(cost=Decimal("0.1"), tokens=TOKENS))
    tell_whole_turn(session, bob)
    tell_whole_turn(session, alice, "again")
    other = make_session(alice, project)
    tell_whole_turn(other, bob)
    gone = User.objects.create(email="gone@example.com", name="Gone")
    story = Story(other, gone)
    story.ask("me, too")
    story.answer()
    story.finish()
    gone.delete()
    for each in (session, other):
        rebuild(each.pk)
    folded = rows()
    assert len(folded) == 5
    assert {row["user_id"] for row in folded} == {alice.pk, bob.pk, None}
    UsageEntry.objects.all().delete()
    migration = import_module("sessions.migrations.0043_usage")
    for _ in range(2):  # a second time changes nothing
        migration._fill(apps, connection.schema_editor())
        assert rows() == folded


def test_a_session_that_is_deleted_leaves_what_it_has_cost(bob: User, session: Session) -> None:
    tell_whole_turn(session, bob)
    before = rows()
    delete_session(session_access(bob, session))
    assert not Session.objects.filter(pk=session.pk).exists()
    assert rows() == before
    assert len(before) == 1


@pytest.mark.parametrize("cost", ["-1", "1e25", "NaN", "Infinity"])
def test_a_cost_that_cannot_be_is_no_event_of_an_archive(cost: str) -> None:
    with pytest.raises(ValidationError):
        parse_event("session.used", {"cost": cost, "tokens": {}})
