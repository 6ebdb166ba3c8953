"""What goes over the bus between the worker that has a terminal and those who preview its apps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict

from opencode_web.lib.bus import publish
from sessions.previews.channel import Channel, ChannelBody

# How often both sides say what they have, and after what silence the other one is gone.
TICK_S = 2.0
LOST_S = 12.0


class OpenBody(TypedDict):
    """Connect to a port. `back` is the group for all that comes of it."""

    t: Literal["open"]
    id: str
    back: str
    port: int


class AskBody(TypedDict):
    """Which ports are there? `back` is the group for the answer."""

    t: Literal["ask"]
    id: str
    back: str


class OpenedBody(TypedDict):
    """The connection stands, or `refused` says why not."""

    t: Literal["opened"]
    id: str
    refused: str


class PortsBody(TypedDict):
    """The answer to an AskBody."""

    t: Literal["ports"]
    id: str
    ports: list[int]


class TickBody(TypedDict):
    """All connections of `group` to `terminal`, with `Channel.state` of each."""

    t: Literal["tick"]
    group: str
    terminal: str
    channels: dict[str, tuple[int, int]]


# To the worker, to `worker_group`.
RequestBody = OpenBody | AskBody | TickBody | ChannelBody
# To a web process, to the group that it has named.
AnswerBody = OpenedBody | PortsBody | TickBody | ChannelBody


def worker_group(terminal_id: str) -> str:
    """Returns: the group that a terminal's worker listens to."""
    return f"preview-in.{terminal_id}"


def send(terminal_id: str, body: RequestBody) -> None:
    """Hand it to the worker of a terminal; it may get lost."""
    publish(worker_group(terminal_id), body)


def answer(group: str, body: AnswerBody) -> None:
    """Hand it to a web process; it may get lost."""
    publish(group, body)


def tick(group: str, terminal_id: str, channels: Iterable[Channel]) -> TickBody:
    """Say what the channels between a web process and a terminal have sent and taken."""
    states = {channel.id: channel.state for channel in channels}
    return {"t": "tick", "group": group, "terminal": terminal_id, "channels": states}


def compare(body: TickBody, channels: Iterable[Channel]) -> None:
    """End the channels that the other side does not have, or on which something got lost."""
    for channel in list(channels):
        state = body["channels"].get(channel.id)
        if state is None:
            channel.close()
        else:
            channel.compare(*state)
