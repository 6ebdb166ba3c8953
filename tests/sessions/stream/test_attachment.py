from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest

from sessions.stream import attachment
from sessions.stream.attachment import Attachment, Exited, TooMuchTyped
from sessions.terminals import link
from sessions.terminals.input import Typed
from sessions.terminals.scrollback import Scrollback


class LossyBus:
    """The bus between a socket and a worker with a scrollback, which loses what `dice` says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, loses: float, seed: int) -> None:
        self.dice = random.Random(seed)
        self.loses = loses
        self.kept = Scrollback(400)
        self.typed = Typed()
        self.keys = ""
        self.now = 0.0
        self._to_worker: deque[Any] = deque()
        self._to_socket: deque[Any] = deque()
        monkeypatch.setattr(link, "publish", self._send)
        monkeypatch.setattr(attachment.time, "monotonic", lambda: self.now)

    def _send(self, group: str, body: Any) -> None:
        queue = self._to_worker if group.startswith("terminal-in.") else self._to_socket
        if self.dice.random() >= self.loses:
            queue.append(body)

    def write(self, text: str) -> None:
        link.say_output("pty_x", self.kept.add(text))

    def tick(self) -> None:
        link.say_tick("pty_x", end=self.kept.end)

    def _serve(self) -> None:
        while self._to_worker:
            match self._to_worker.popleft():
                case {"t": "read", "from": socket, "at": at}:
                    start, end = self.kept.start, self.kept.end
                    at = end if at < 0 else at
                    while True:
                        piece = self.kept.read(at, most=7)
                        at, more = piece.end, piece.end < end
                        link.say_replay("pty_x", socket, piece, start=start, end=end, more=more)
                        if not more:
                            break
                case {"t": "type", "from": socket, "n": number, "text": text}:
                    if self.typed.is_next(socket, number):
                        self.typed.take(socket, number)
                        self.keys += text
                    link.say_taken("pty_x", socket, self.typed.taken(socket))

    def run(self, socket: Attachment) -> list[Any]:
        frames: list[Any] = []
        while self._to_worker or self._to_socket:
            self._serve()
            if self._to_socket:
                frames += socket.take(self._to_socket.popleft())
        return frames


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_missing_or_double_whatever_the_line_loses(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    bus = LossyBus(monkeypatch, loses=0.3, seed=seed)
    bus.write("before ")
    socket = Attachment("pty_x", 0)
    socket.begin()
    whole, frames = "before ", []
    for number in range(30):
        text = f"{number}🙂 "
        whole += text
        bus.write(text)
        socket.type(f"{number},")
        frames += bus.run(socket)
    bus.loses = 0
    for _ in range(4):
        bus.now += 2
        socket.repeat()
        bus.tick()
        frames += bus.run(socket)
    assert "".join(frame for frame in frames if isinstance(frame, str)) == whole
    assert bus.keys == "".join(f"{number}," for number in range(30))


def test_what_is_not_kept_any_more_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    bus = LossyBus(monkeypatch, loses=0, seed=0)
    bus.write("x" * 1_000)
    bus.write("end")
    socket = Attachment("pty_x", 5)
    socket.begin()
    *texts, place = bus.run(socket)
    assert place == b'\0{"cursor":1003}'
    assert "".join(texts) == "x" * (1_000 - bus.kept.start) + "end"


@pytest.mark.parametrize("cursor", [-1, 3, 10**9])
def test_whoever_has_everything_gets_only_their_place(
    monkeypatch: pytest.MonkeyPatch, cursor: int
) -> None:
    bus = LossyBus(monkeypatch, loses=0, seed=0)
    bus.write("old")
    socket = Attachment("pty_x", cursor)
    socket.begin()
    assert bus.run(socket) == [b'\0{"cursor":3}']
    bus.write("new")
    assert bus.run(socket) == ["new"]


def test_an_answer_to_somebody_else_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    bus = LossyBus(monkeypatch, loses=0, seed=0)
    one, two = Attachment("pty_x", -1), Attachment("pty_x", -1)
    one.begin()
    bus.run(one)
    bus.write("old")
    two.begin()
    assert bus.run(one) == ["old"]


def test_the_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    bus = LossyBus(monkeypatch, loses=0, seed=0)
    socket = Attachment("pty_x", -1)
    for code in (3, None):
        link.say_exited("pty_x", code)
        assert bus.run(socket) == [Exited(code)]


def test_who_types_more_than_anybody_takes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    LossyBus(monkeypatch, loses=1, seed=0)
    socket = Attachment("pty_x", -1)
    socket.type("x" * 600_000)
    with pytest.raises(TooMuchTyped):
        socket.type("x" * 600_000)
