from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.outbound import FetchError
from sessions.actions.control import request_stop
from sessions.models import ContextEpoch, Event, Project, Session
from sessions.runner import run_session
from sessions.runner.context import remote
from teams.models import User
from tests.sessions.factories import prompt, script, session_access

pytestmark = pytest.mark.any_database

STYLE, AWAY = "https://docs.example.com/style.md", "https://docs.example.com/away.md"


class Pages:
    """Stands for the web."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.texts = {STYLE: "Use tabs."}

    async def __call__(self, url: str, **_options: object) -> tuple[str, bool]:
        self.asked.append(url)
        if url not in self.texts:
            raise FetchError("it took longer than 5 s")
        return self.texts[url], False


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch, project: Project) -> Iterator[Pages]:
    web = Pages()
    monkeypatch.setattr(remote, "fetch_text", web)
    project.config = {"instructions": [STYLE, AWAY]}
    remote._fetched.clear()
    yield web
    remote._fetched.clear()


async def _ask(alice: User, session: Session, project: Project) -> ContextEpoch:
    await in_db(project.save)
    await in_db(prompt, alice, session, script([{"text": "hello"}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    return await in_db(ContextEpoch.objects.get, session=session)


async def test_pages_are_part_of_the_baseline_and_one_that_is_away_is_left_out(
    alice: User, session: Session, project: Project, pages: Pages
) -> None:
    epoch = await _ask(alice, session, project)
    assert f'<instructions from="{STYLE}">\nUse tabs.' in epoch.baseline[1]
    assert AWAY not in epoch.baseline[1]
    assert sorted(pages.asked) == [AWAY, STYLE]


async def test_a_page_is_fetched_once_in_an_epoch(
    alice: User, session: Session, project: Project, pages: Pages
) -> None:
    first = await _ask(alice, session, project)
    pages.texts[STYLE] = "Use spaces."
    remote._fetched.clear()
    again = await _ask(alice, session, project)
    assert pages.asked.count(STYLE) == 1
    assert (again.baseline, again.snapshot) == (first.baseline, first.snapshot)


async def test_fr_08_a_page_that_was_away_is_told_when_it_is_there(
    alice: User, session: Session, project: Project, pages: Pages
) -> None:
    first = await _ask(alice, session, project)
    # Not tried again at once.
    await _ask(alice, session, project)
    assert pages.asked.count(AWAY) == 1
    pages.texts[AWAY] = "Sign commits."
    remote._fetched.clear()
    later = await _ask(alice, session, project)
    assert later.baseline == first.baseline
    [told] = later.updates
    assert f'<instructions from="{AWAY}">\nSign commits.' in told["text"]
    assert "Use tabs." not in told["text"]


async def test_a_page_that_the_settings_name_no_longer_is_taken_back(
    alice: User, session: Session, project: Project, pages: Pages
) -> None:
    await _ask(alice, session, project)
    project.config = {}
    later = await _ask(alice, session, project)
    assert later.updates[0]["text"].endswith(
        f"The instructions from {STYLE} are gone and no longer apply."
    )


async def test_no_transaction_is_open_while_pages_are_fetched(
    alice: User, session: Session, project: Project, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    async def look(url: str, **_options: object) -> tuple[str, bool]:
        rows = Event.objects.filter(session=session).order_by("seq")
        seen.append(await in_db(list, rows.values_list("type", flat=True)))
        return "text", False

    monkeypatch.setattr(remote, "fetch_text", look)
    await _ask(alice, session, project)
    # What the boundary decided is committed, and the epoch begins after the pages came.
    assert "input.promoted" in seen[0]
    assert "context.started" not in seen[0]


async def test_a_stop_while_pages_are_fetched_ends_the_turn(
    alice: User, session: Session, project: Project, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def hang(_url: str, **_options: object) -> tuple[str, bool]:
        begun.set()
        await asyncio.sleep(30)
        raise AssertionError("nobody stopped it")

    monkeypatch.setattr(remote, "fetch_text", hang)
    await in_db(project.save)
    await in_db(prompt, alice, session, script([{"text": "hello"}]))
    drain = asyncio.create_task(run_session(session.pk))
    await asyncio.wait_for(begun.wait(), 25)
    await in_db(lambda: request_stop(session_access(alice, session)))
    await asyncio.wait_for(drain, 25)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert not await in_db(ContextEpoch.objects.filter(session=session).exists)
