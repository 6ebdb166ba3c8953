from __future__ import annotations

import asyncio
import json

import pytest

from sessions.stream.listener import Ended, Listener
from sessions.stream.rooms import LiveRoom, Rooms


class Endless(LiveRoom):
    async def serve(self) -> None:
        self.be_ready()
        await asyncio.Event().wait()


class Broken(LiveRoom):
    async def serve(self) -> None:
        raise RuntimeError("our own fault")


async def test_all_who_watch_the_same_share_a_room_until_the_last_leaves() -> None:
    rooms = Rooms[Endless]("test")
    first, second = Listener(), Listener()
    async with rooms.joined("ses_1", Endless) as room:
        room.add(first)
        async with rooms.joined("ses_1", Endless) as same, rooms.joined("ses_2", Endless) as other:
            assert same is room
            assert other is not room
            same.add(second)
            room.send({"k": "h"})
            assert [json.loads(await each.get()) for each in (first, second)] == [{"k": "h"}] * 2
        assert [opened for _, opened in rooms.all()] == [[room]]
        assert room.task is not None
        assert not room.task.cancelled()
    await asyncio.wait({room.task})
    assert room.task.cancelled()
    assert [opened for _, opened in rooms.all()] == [[]]


async def test_who_comes_into_a_room_that_has_failed_is_let_go(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rooms, listener = Rooms[Broken]("test"), Listener()
    async with rooms.joined("ses_1", Broken) as room:
        room.add(listener)
        with pytest.raises(Ended):
            await asyncio.wait_for(listener.get(), 25)
    assert "test.failed id=ses_1" in caplog.text
    async with rooms.joined("ses_1", Broken) as another:
        assert another is not room
