from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.models import Run, Session
from sessions.stream import worker_watch
from teams.models import User
from tests.sessions.factories import prompt
from tests.sessions.runner.drains import take_up_and_begin
from tests.sessions.stream.conftest import Open, watching
from tests.sessions.stream.dom import Page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_watch, "LOOK_S", 0.05)


def status_of(page: Page) -> str:
    return next(node for node in page.root if "status" in node.attributes.get("class", "")).text


def lose_worker(session: Session, *, in_s: float) -> None:
    until = timezone.now() + timedelta(seconds=in_s)
    Run.objects.filter(session=session).update(owner="dead@host", lease_until=until)


@pytest.mark.parametrize("is_lost_before", [False, True])
async def test_a_lost_worker_is_told_until_another_takes_the_lease(
    session: Session, alice: User, load_page: Open, *, is_lost_before: bool
) -> None:
    await in_db(prompt, alice, session, "Mend it")
    await in_db(take_up_and_begin, session.pk)
    await in_db(lambda: lose_worker(session, in_s=-1 if is_lost_before else 0.5))
    page = await in_db(load_page)
    assert ("Worker lost, resuming" in status_of(page)) is is_lost_before
    async with watching(session, page) as watcher:
        await watcher.until(lambda page: "Worker lost, resuming" in status_of(page))
        assert page.shape() == (await in_db(load_page)).shape()
        await in_db(take_up_and_begin, session.pk)
        await watcher.until(lambda page: "Running" in status_of(page))
