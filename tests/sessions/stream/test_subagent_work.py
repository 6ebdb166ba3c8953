from __future__ import annotations

import pytest

from opencode_web.lib.db import in_db
from sessions.events.types import SessionStatus
from sessions.models import PermissionRequest, Project, Session
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story, write
from tests.sessions.stream.conftest import Open, watching
from tests.sessions.stream.test_same_page import last_seq

pytestmark = pytest.mark.django_db(transaction=True)


async def test_what_a_sub_agent_asks_comes_to_the_open_page_of_its_root(
    alice: User, project: Project, session: Session, load_page: Open
) -> None:
    child = await in_db(make_session, alice, project, parent=session)

    def ask() -> None:
        story = Story(child, alice)
        story.ask("look around")
        story.answer()
        story.waits("ls -la")

    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        await in_db(ask)
        # Its own next event comes behind what was published for its sub-agent.
        await in_db(write, session, SessionStatus(state="busy", waits_for="children"))
        await watcher.reach(await last_seq(session))
        request = await in_db(PermissionRequest.objects.get, session=child)
        assert page.root.find(f"perm-{request.pk}") is not None
        assert page.shape() == (await in_db(load_page)).shape()
        await in_db(Story(child, alice).replied, request.pk)
        await in_db(write, session, SessionStatus(state="busy"))
        await watcher.reach(await last_seq(session))
        assert page.root.find(f"perm-{request.pk}") is None
