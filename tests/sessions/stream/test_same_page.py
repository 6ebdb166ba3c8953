from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from unittest import mock

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.reasons import Cause, english
from sessions.events.live import (
    Delta,
    Estimate,
    publish_deltas,
    publish_estimate,
    publish_progress,
)
from sessions.events.reasons import TurnReason
from sessions.models import Part, Session
from sessions.stream import room
from teams.models import User
from tests.sessions import story
from tests.sessions.story import Story, tell_whole_turn
from tests.sessions.stream.conftest import Open, watching
from tests.sessions.stream.dom import Page

pytestmark = pytest.mark.django_db(transaction=True)


async def last_seq(session: Session) -> int:
    await in_db(session.refresh_from_db)
    return session.seq


async def test_an_open_page_becomes_what_a_reload_shows(
    session: Session, alice: User, load_page: Open
) -> None:
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        await in_db(tell_whole_turn, session, alice)
        await watcher.reach(await last_seq(session))
        await in_db(tell_whole_turn, session, alice, "and once more")
        await watcher.reach(await last_seq(session))
    fresh = await in_db(load_page)
    assert page.shape() == fresh.shape()
    assert "The agent has finished: 1 file changed." in page.said


async def test_a_page_of_any_age_is_brought_to_the_same_by_what_it_missed(
    session: Session, alice: User, load_page: Open
) -> None:
    pages: list[Page] = []
    write = story.write

    def write_and_look(*args: object) -> None:
        pages.append(load_page())
        write(*args)  # type: ignore[arg-type]

    with mock.patch.object(story, "write", write_and_look):
        await in_db(tell_whole_turn, session, alice)
    fresh = await in_db(load_page)
    assert len(pages) > 12
    for page in pages:
        async with watching(session, page) as watcher:
            await watcher.reach(fresh.cursor)
            assert len(watcher.frames) == 1
        assert page.shape() == fresh.shape()


@pytest.mark.parametrize(
    ("cause", "mark"),
    [
        (Cause(TurnReason.STOPPED_BY, {"name": "Alice"}), {}),
        (Cause(TurnReason.WORKER_LOST), {"interrupted": True}),
    ],
)
async def test_an_open_page_says_at_once_that_a_turn_was_cut_off(
    session: Session, alice: User, load_page: Open, cause: Cause, mark: dict[str, bool]
) -> None:
    told, part = await started(session, alice)
    await in_db(told.running, "bash", {"command": "make"}, output="line 1\n")
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        await grow(session, part, "half a sen")
        await watcher.until(lambda page: tail_of(page, part) == "half a sen")
        await in_db(flush, part, "half a sen")
        await in_db(told.cut, cause, **mark)
        await watcher.reach(await last_seq(session))
    assert page.shape() == (await in_db(load_page)).shape()
    log = page.root.find("#log")
    assert log is not None
    assert log.first("error-title").text == english(cause)
    assert "line 1" in log.first("bash-output").text
    assert "text-streaming" not in str(log.shape())


async def test_each_event_reaches_each_page_once(
    session: Session, alice: User, load_page: Open
) -> None:
    first, second = await in_db(load_page), await in_db(load_page)
    async with watching(session, first) as one:
        await in_db(Story(session, alice).ask, "hello")
        await one.reach(await last_seq(session))
        async with watching(session, second) as other:
            seq = await last_seq(session)
            await other.reach(seq)
            await in_db(Story(session, alice).ask, "again")
            seq = await last_seq(session)
            await one.reach(seq)
            await other.reach(seq)
    for watcher in (one, other):
        cursors = [frame["q"] for frame in watcher.frames if "q" in frame]
        assert cursors == sorted(set(cursors))
    assert first.shape() == second.shape()


async def test_a_room_that_waits_for_its_turn_draws_all_that_came_in_one_frame(
    session: Session, alice: User, load_page: Open
) -> None:
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        turns = room._turns_to_draw()
        for _ in range(room.MOST_DRAWING):
            await turns.acquire()
        await in_db(tell_whole_turn, session, alice)
        await asyncio.sleep(0.1)
        assert watcher.frames == []
        for _ in range(room.MOST_DRAWING):
            turns.release()
        await watcher.reach(await last_seq(session))
    assert len([frame for frame in watcher.frames if "q" in frame]) <= 2
    assert page.shape() == (await in_db(load_page)).shape()


TEXT = "# Title\n\nA *first* paragraph.\n\n```python\nx = 1 < 2\n```\n\n- 🎉 one\n- two\n\nlast"


async def grow(session: Session, part: str, text: str, *, start: int = 0, step: int = 7) -> None:
    for offset in range(start, len(text), step):
        publish_deltas([Delta(session, "", part, offset, text[offset : offset + step])])
        await asyncio.sleep(0.005)


def flush(part_id: str, text: str) -> None:
    row = Part.objects.get(pk=part_id)
    row.data["text"] = text
    row.save()


async def started(session: Session, alice: User) -> tuple[Story, str]:
    told = Story(session, alice)
    await in_db(told.ask, "tell me")
    await in_db(told.answer)
    return told, await in_db(told.text, "", done=False)


def tail_of(page: Page, part: str) -> str:
    node = page.root.find(f"prt-{part}")
    return node.first("tail").text if node else ""


def length_of(page: Page, part: str) -> int:
    node = page.root.find(f"prt-{part}")
    return int(node.attributes["data-length"]) if node else -1


async def test_growing_text_closes_its_blocks_and_ends_like_a_reload(
    session: Session, alice: User, load_page: Open
) -> None:
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        told, part = await started(session, alice)
        await grow(session, part, TEXT)
        await watcher.until(lambda page: tail_of(page, part) == "last")
        await in_db(flush, part, TEXT)
        half = await in_db(load_page)
        assert page.shape() == half.shape()
        node = page.root.find(f"prt-{part}")
        assert node is not None
        assert "x = 1 < 2" in node.first("blocks").text
        await in_db(told.text, TEXT, id=part)
        await watcher.reach(await last_seq(session))
    assert page.shape() == (await in_db(load_page)).shape()


async def test_who_comes_in_the_middle_of_a_text_gets_the_beginning_too(
    session: Session, alice: User, load_page: Open
) -> None:
    _, part = await started(session, alice)
    async with watching(session, await in_db(load_page)) as early:
        await grow(session, part, TEXT[:40])
        await early.until(lambda page: length_of(page, part) == 40)
        late_page = await in_db(load_page)
        assert length_of(late_page, part) == 0
        async with watching(session, late_page) as late:
            await grow(session, part, TEXT, start=40)
            await late.until(lambda page: tail_of(page, part) == "last")
            await early.until(lambda page: tail_of(page, part) == "last")
    assert late_page.shape() == early.page.shape()


async def test_the_first_to_watch_a_text_in_its_middle_gets_it_from_the_row(
    session: Session, alice: User, load_page: Open
) -> None:
    _, part = await started(session, alice)
    page = await in_db(load_page)
    await in_db(flush, part, TEXT[:30])
    async with watching(session, page) as watcher:
        # What the row lacks was said before anybody listened.
        await grow(session, part, TEXT[:60], start=45)
        await in_db(flush, part, TEXT[:60])
        await grow(session, part, TEXT, start=60)
        await watcher.until(lambda page: tail_of(page, part) == "last")
    assert length_of(page, part) == len(TEXT)


async def test_repeated_deltas_change_nothing(
    session: Session, alice: User, load_page: Open
) -> None:
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        _, part = await started(session, alice)
        await grow(session, part, "abcdefghij", step=3)
        await grow(session, part, "abcdefghij", step=4)
        await watcher.until(lambda page: length_of(page, part) == 10)
        await asyncio.sleep(0.1)
    assert tail_of(page, part) == "abcdefghij"


async def test_progress_of_a_command_is_drawn_and_gives_way_to_its_end(
    session: Session, alice: User, load_page: Open
) -> None:
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        told, part = await started(session, alice)
        part_id = new_id("prt")
        await in_db(told.running, "bash", {"command": "make"}, id=part_id)
        row = await in_db(Part.objects.get, pk=part_id)
        for count in range(30):
            row.data["state"]["metadata"] = {"output": f"line {count}\n"}
            publish_progress(session, row.data)
        await watcher.until(lambda page: "line 29" in page.root.text)
        drawn = [f for f in watcher.frames if f["k"] == "h" and "q" not in f]
        assert len(drawn) < 5
        await in_db(told.done, "bash", {"command": "make"}, "built", id=part_id, output="built")
        await watcher.reach(await last_seq(session))
        # What the bus brings late changes nothing any more.
        await in_db(publish_progress, session, row.data)
        await asyncio.sleep(2 * room.PROGRESS_S)
        await grow(session, part, "abc")
        await watcher.until(lambda page: length_of(page, part) == 3)
    assert "line 29" not in page.root.text
    assert "built" in page.root.text


async def test_a_cursor_too_far_back_is_told_to_read_the_page_again(
    session: Session, alice: User, load_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await in_db(load_page)
    await in_db(tell_whole_turn, session, alice)
    monkeypatch.setattr(room, "MAX_MISSED", 3)
    watcher_frames: list[str] = []
    async with watching(session, page) as watcher:
        watcher_frames.append(await asyncio.wait_for(watcher.listener.get(), 25))
    assert watcher_frames == ['{"k":"reset","why":"trimmed"}']


def figures_of(page: Page) -> str:
    return next(node for node in page.root if node.attributes.get("class") == "meter").text


async def test_the_figures_go_up_while_an_answer_streams_and_are_counted_at_its_end(
    session: Session, alice: User, load_page: Open
) -> None:
    told, part = await started(session, alice)
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        await grow(session, part, "half a sen")
        guess = Estimate(context=48_200, limit=100_000, tokens=48_200, cost=Decimal("0.3"))
        publish_estimate(session, guess)
        await watcher.until(lambda page: "~48 %" in figures_of(page))
        assert "~48k tokens" in figures_of(page)
        assert "~$0.30" in figures_of(page)
        # Where no price is known nothing is said of the cost, rather than that there is none.
        publish_estimate(session, replace(guess, tokens=60_000, cost=None))
        await watcher.until(lambda page: "~60k tokens" in figures_of(page))
        assert "$" not in figures_of(page)
        await in_db(told.text, "half a sentence", id=part)
        await in_db(told.finish, changed=False)
        await watcher.reach(await last_seq(session))
        assert "~" not in figures_of(page)
    assert page.shape() == (await in_db(load_page)).shape()


async def test_an_estimate_that_what_happened_has_overtaken_is_not_shown(
    session: Session, alice: User, load_page: Open
) -> None:
    told, _ = await started(session, alice)
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        turns = room._turns_to_draw()
        for _ in range(room.MOST_DRAWING):
            await turns.acquire()
        publish_estimate(session, Estimate(context=5, limit=10, tokens=5, cost=None))
        await in_db(told.finish, changed=False)
        await asyncio.sleep(0.1)
        for _ in range(room.MOST_DRAWING):
            turns.release()
        await watcher.reach(await last_seq(session))
    assert not any("~" in str(frame) for frame in watcher.frames)
