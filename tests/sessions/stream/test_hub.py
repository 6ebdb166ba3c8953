from __future__ import annotations

import asyncio
from typing import Any

import pytest
from channels.layers import get_channel_layer

from opencode_web.lib.bus import publish
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.loop import service_loop
from sessions.stream import hub
from sessions.stream.hub import Overflow, Subscription, flushed, watch


async def next_of(subscription: Subscription) -> dict[str, Any]:
    body: Any = await asyncio.wait_for(anext(subscription), 25)
    return body


async def test_every_watcher_gets_every_body_in_order() -> None:
    async with watch("session.a") as one, watch("session.a", "session.b") as two:
        for number in range(3):
            publish("session.a", {"t": "tick", "end": number})
        assert [(await next_of(one))["end"] for _ in range(3)] == [0, 1, 2]
        assert [(await next_of(two))["end"] for _ in range(3)] == [0, 1, 2]
        publish("session.b", {"t": "tick", "end": 9})
        assert (await next_of(two))["end"] == 9


async def test_who_watches_one_session_gets_nothing_of_the_others() -> None:
    async with watch("team.t") as everything, watch("team.t", session="ses_1") as one:
        publish("team.t", {"t": "events", "session": "ses_2", "events": [], "end": 0})
        publish("team.t", {"t": "events", "session": "ses_1", "events": [], "end": 1})
        deltas: list[JsonValue] = [
            {"t": "delta", "session": "ses_2", "end": 2},
            {"t": "delta", "session": "ses_1", "end": 3},
        ]
        publish("team.t", {"t": "deltas", "deltas": deltas})
        assert [(await next_of(everything))["end"] for _ in range(4)] == [0, 1, 2, 3]
        assert [(await next_of(one))["end"] for _ in range(2)] == [1, 3]
        publish("team.t", {"t": "events", "session": "ses_1", "events": [], "end": 4})
        assert (await next_of(one))["end"] == 4


async def test_take_hands_over_all_that_waits_up_to_a_mark() -> None:
    async with watch("session.a") as subscription:
        for number in range(3):
            subscription.put({"t": "tick", "end": number})
        mark = subscription.mark()
        subscription.put({"t": "tick", "end": 3})
        assert await subscription.take() == [
            {"t": "tick", "end": 0},
            {"t": "tick", "end": 1},
            {"t": "tick", "end": 2},
        ]
        assert not mark.done()
        assert await subscription.take() == [{"t": "tick", "end": 3}]
        assert mark.done()


async def test_what_gathers_on_the_bus_goes_out_in_one_message_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = get_channel_layer()
    whole, sent = layer.group_send, []

    async def counted(group: str, message: dict[str, Any]) -> None:
        sent.append((group, len(message["bodies"])))
        await whole(group, message)

    monkeypatch.setattr(layer, "group_send", counted)
    async with watch("session.a") as one, watch("session.b") as two:
        service_loop().call_soon_threadsafe(_publish_ten)
        assert [(await next_of(one))["end"] for _ in range(10)] == list(range(10))
        assert (await next_of(two))["end"] == 10
    assert sent == [("session.a", 10), ("session.b", 1)]


def _publish_ten() -> None:
    # On the loop of the bus itself, so that nothing is sent before all of it waits.
    for number in range(10):
        publish("session.a", {"t": "tick", "end": number})
    publish("session.b", {"t": "tick", "end": 10})


async def test_it_subscribes_once_per_group_and_leaves_with_the_last_watcher() -> None:
    feeds = hub._feeds.setdefault(asyncio.get_running_loop(), {})
    async with watch("session.a"):
        feed = feeds["session.a"]
        async with watch("session.a"):
            assert feeds["session.a"] is feed
            assert len(feed.watchers[""]) == 2
        assert not feed.task.cancelling()
    assert "session.a" not in feeds
    assert feed.task.cancelling()


async def test_a_slow_watcher_is_cut_off_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "CAPACITY", 4)
    async with watch("session.a") as slow, watch("session.a") as quick:
        for number in range(6):
            publish("session.a", {"t": "tick", "end": number})
            assert (await next_of(quick))["end"] == number
        with pytest.raises(Overflow):
            await next_of(slow)


async def test_flushed_waits_until_a_watcher_comes_back_for_more() -> None:
    handled: list[JsonObject] = []
    go = asyncio.Event()

    async def consume(subscription: Subscription) -> None:
        async for body in subscription:
            await go.wait()
            handled.append(body)

    async with watch("session.a") as subscription:
        consumer = asyncio.create_task(consume(subscription))
        publish("session.a", {"t": "tick", "end": 1})
        flush = asyncio.create_task(flushed("session.a", "session.unwatched"))
        await asyncio.sleep(0.05)
        assert not flush.done()
        go.set()
        await asyncio.wait_for(flush, 25)
        assert handled == [{"t": "tick", "end": 1}]
        consumer.cancel()


async def test_flushed_does_not_wait_for_a_watcher_that_leaves() -> None:
    async with watch("session.a"):
        async with watch("session.a"):
            flush = asyncio.create_task(flushed("session.a"))
            await asyncio.sleep(0.05)
            assert not flush.done()
        quick = asyncio.create_task(asyncio.sleep(0))
        await quick
    await asyncio.wait_for(flush, 1)


async def test_flushed_gives_up_on_a_stuck_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "FLUSH_TIMEOUT_S", 0.1)
    async with watch("session.a"):
        await asyncio.wait_for(flushed("session.a"), 2)


def break_once(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    layer = get_channel_layer()
    whole = getattr(layer, method)

    async def broken(*args: object) -> None:
        monkeypatch.setattr(layer, method, whole)
        raise ConnectionError("the bus is gone")

    monkeypatch.setattr(layer, method, broken)


async def test_a_fault_of_the_bus_loses_one_message_and_not_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with watch("session.a") as subscription:
        break_once(monkeypatch, "group_send")
        publish("session.a", {"t": "tick", "end": 1})
        while get_channel_layer().group_send.__name__ == "broken":
            await asyncio.sleep(0.01)
        publish("session.a", {"t": "tick", "end": 2})
        assert (await next_of(subscription))["end"] == 2


async def test_a_bus_that_cannot_be_listened_to_sends_watchers_to_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_once(monkeypatch, "group_add")
    async with watch("session.a") as subscription:
        with pytest.raises(Overflow):
            await next_of(subscription)
    async with watch("session.a") as again:
        publish("session.a", {"t": "tick", "end": 1})
        assert (await next_of(again))["end"] == 1


async def test_bodies_that_are_put_back_come_first_and_in_order() -> None:
    async with watch("session.a") as subscription:
        for number in range(4):
            subscription.put({"t": "tick", "end": number})
        taken = await subscription.take()
        subscription.put({"t": "tick", "end": 4})
        subscription.put_back(taken[2:])
        assert [(await next_of(subscription))["end"] for _ in range(3)] == [2, 3, 4]
