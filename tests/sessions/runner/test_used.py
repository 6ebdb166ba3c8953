from __future__ import annotations

from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.runner import run_session
from teams.models import UsageEntry, User
from tests.sessions.factories import prompt, script
from tests.sessions.projection import assert_log_equals_rows


async def test_fr_02_a_turn_counts_for_who_prompted_not_for_who_owns_the_session(
    alice: User, bob: User, session: Session
) -> None:
    ask = await in_db(prompt, bob, session, script([{"text": "x"}]))
    await run_session(session.pk)
    row = await in_db(UsageEntry.objects.values().get)
    await in_db(session.refresh_from_db)
    assert session.owner_id == alice.pk
    assert (row["user_id"], row["prompt"], row["project"]) == (bob.pk, ask.pk, session.project_id)
    assert (row["provider"], row["model"]) == ("demo", "inline")
    assert (row["input"], row["output"]) == (session.tokens["input"], session.tokens["output"])
    assert row["cost"] == session.cost
    await in_db(assert_log_equals_rows, session)
