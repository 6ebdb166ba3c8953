from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.statements import recorded_statements
from tests.sessions.story import Story

# Admission and drain of a turn without tools. Raise them with a reason only.
# One reads the secrets that a prompt must not have.
MOST_TO_ADMIT = 15
# An account can have several credentials, which are read after it.
# The last ones look which search engine the team has, which webhooks hear of the end, and write
# what the answer used. One locks the session again, once the lease is in a transaction of its own.
# Another one looks who else is in line, and one which plugins from npm the team has. The end is
# noted for those who want to be notified of it.
MOST_TO_DRAIN = 51


@transaction.atomic
def talk(session: Session, author: User, *, messages: int) -> None:
    story = Story(session, author)
    for _ in range(messages // 2):
        story.ask("and now?")
        story.answer(finish="stop")
        story.text("this")
        story.finish(changed=False)


async def _statements(alice: User, session: Session) -> tuple[int, int]:
    with recorded_statements() as statements:
        await in_db(prompt, alice, session, script([{"text": "x"}]))
        admitted = len(statements)
        await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    return admitted, len(statements) - admitted


@pytest.mark.deep
async def test_a_turn_takes_as_many_statements_after_a_thousand_messages(
    alice: User, session: Session, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whether the server takes messages is read every few seconds, and not for each of them.
    monkeypatch.setattr("teams.announcements.KEPT_S", 600)
    await _statements(alice, session)  # the first one also makes the context epoch
    settings.FLUSH_S = 60  # a slow machine writes a growing text in between
    await in_db(talk, session, alice, messages=10)
    short = await _statements(alice, session)
    await in_db(talk, session, alice, messages=1_000)
    assert await _statements(alice, session) == short
    assert short[0] <= MOST_TO_ADMIT
    assert short[1] <= MOST_TO_DRAIN
