from __future__ import annotations

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.events.live import publish_row
from sessions.models import PullRequest, Session
from sessions.stream.listener import Listener
from sessions.stream.rail import View, joined_rail
from tests.sessions.stream.test_languages import heard

pytestmark = pytest.mark.django_db(transaction=True)


def open_pull(session: Session) -> None:
    PullRequest.objects.create(
        project=session.project,
        session=session,
        branch="mend",
        base_branch="main",
        number=7,
        url="https://forge.example/shop/pull/7",
        title="Mend",
        state="open",
        checks="running",
        looked_at=timezone.now(),
    )
    publish_row(session)


async def test_a_pull_request_is_drawn_in_the_list_and_in_the_header_of_its_session(
    session: Session,
) -> None:
    listener = Listener()
    view = View(await in_db(lambda: session.project.team_id), "all")
    async with joined_rail(view, listener):
        await in_db(open_pull, session)
        frame = await heard(listener, "Checks are running")
    for place in ("row", "card", "header-pull"):
        assert f"#{place}-{session.pk}" in frame
    assert frame.count("Checks are running") == 3
