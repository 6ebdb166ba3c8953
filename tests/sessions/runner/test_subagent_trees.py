from __future__ import annotations

import asyncio

from opencode_web.lib.db import in_db
from sessions.actions.control import request_stop
from sessions.models import Part, Run, Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.test_stop import until
from tests.sessions.runner.test_subagents import children_of, is_settled, task, work


async def test_a_stop_reaches_the_sub_agents_of_sub_agents(alice: User, session: Session) -> None:
    session.project.config = {"subagent_depth": 2}
    await in_db(session.project.save)
    slow = script([{"text": "begun"}, {"delay_ms": 60_000}])
    middle = script([task(slow)], [{"text": "never"}])
    await in_db(prompt, alice, session, script([task(middle)], [{"text": "never"}]))
    await run_session(session.pk)
    (child,) = await in_db(children_of, session)
    await run_session(child.pk)
    (grandchild,) = await in_db(children_of, child)
    drain = asyncio.create_task(run_session(grandchild.pk))
    texts = Part.objects.filter(session=grandchild, type="text", data__text="begun")
    await until(texts.exists)
    assert await in_db(request_stop, await in_db(session_access, alice, session))
    await asyncio.wait_for(drain, 25)
    await asyncio.wait_for(work(session), 25)
    assert await in_db(is_settled, session)
    tree = Session.objects.values_list("outcome", flat=True)
    assert await in_db(list, tree) == ["stopped"] * 3
    assert await in_db(Run.objects.exclude(stop_requested_at=None).count) == 0
    assert not await in_db(Part.objects.filter(data__text="never").exists)
