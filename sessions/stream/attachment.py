"""A socket's side of a terminal: no gap and no double, whatever the bus loses.

Source: the frames of OpenCode's terminals. Text is output; after what a client missed comes one
binary frame, a zero byte and `{"cursor": n}`, from which it counts on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

from opencode_web.lib.ids import new_id
from sessions.stream.hub import Body
from sessions.stream.quota import Allowance, Window
from sessions.terminals import link
from sessions.terminals.input import Unsent
from sessions.terminals.link import ReplayBody
from sessions.terminals.scrollback import ScrollbackPiece

# What was asked for or sent, and not answered within this, is asked for or sent again.
AGAIN_S = 1.0
# Typed text that no worker has taken.
MAX_UNSENT_CHARS = 1024 * 1024
Frame = str | bytes


class TooMuchTyped(Exception):
    """The program reads slower than the client types."""


@dataclass(frozen=True)
class Exited:
    """Nothing follows."""

    code: int | None


class ReadOnly(Exception):
    """Who only looks on has typed."""


class Attachment:
    """One socket on one terminal. `cursor` is what the client has, -1 for the end of output.

    `counts`: the client says how much it has taken. `watching`: it may not type, and is told the
    size that its person's window has. To a client that falls behind nothing is sent until it has
    caught up; then it gets what is missing as far as that is kept.
    """

    def __init__(
        self, terminal_id: str, cursor: int, *, counts: bool = False, watching: bool = False
    ) -> None:
        self._watching = watching
        self.counts = counts
        self._room: Window | Allowance = Window() if counts else Allowance()
        self._is_behind = False
        self._id = terminal_id
        self._socket = new_id("soc")
        self._cursor = cursor
        self._unsent = Unsent()
        self._asked_at: float | None = None
        self._said_at = 0.0
        self.heard_at = time.monotonic()

    def begin(self) -> None:
        """Ask for what the client has missed. Call it when the output is listened to."""
        self._ask()

    def type(self, text: str) -> None:
        """Hand over what the client typed. Raises: TooMuchTyped, ReadOnly."""
        if self._watching:
            raise ReadOnly
        if self._unsent.chars + len(text) > MAX_UNSENT_CHARS:
            raise TooMuchTyped
        if not self._unsent.chars:
            self._said_at = time.monotonic()
        link.send_type(self._id, self._socket, self._unsent.add(text), text)

    def taken(self, units: int) -> None:
        """The client has taken so much of the output."""
        self._room.taken(units)
        self._catch_up()

    def _catch_up(self) -> None:
        if self._is_behind and self._room.has_room():
            self._is_behind = False
            self._ask()

    def repeat(self) -> None:
        """Say and ask again what got no answer. Call it now and then."""
        self._catch_up()
        now = time.monotonic()
        if self._unsent.chars and now - self._said_at > AGAIN_S:
            self._said_at = now
            for number, text in self._unsent.waiting():
                link.send_type(self._id, self._socket, number, text)
        if self._asked_at is not None and now - self._asked_at > AGAIN_S:
            self._ask()

    def take(self, body: Body) -> Iterator[Frame | Exited]:
        """Yield what the client gets for a message of the terminal's worker."""
        self.heard_at = time.monotonic()
        match body["t"]:
            case "out":
                yield from self._output(ScrollbackPiece(body["at"], body["text"]))
            case "replay" if body["to"] == self._socket:
                yield from self._replayed(body)
            case "taken" if body["to"] == self._socket:
                self._unsent.taken(body["n"])
                self._said_at = time.monotonic()
            case "tick":
                self._expect(body["end"])
            case "size" if self._watching:
                yield _control({"rows": body["rows"], "cols": body["columns"]})
            case "exited":
                yield Exited(body["code"])

    def _output(self, piece: ScrollbackPiece) -> Iterator[Frame]:
        if self._asked_at is not None or self._is_behind:
            return  # the answer has it, or what follows shows that it is missing
        if piece.at > self._cursor:
            self._ask()
        elif piece.end > self._cursor:
            yield from self._send(piece)

    def _send(self, piece: ScrollbackPiece) -> Iterator[Frame]:
        """Yield what the client has not got yet of it, if it takes any now."""
        if not self._room.has_room():
            self._is_behind, self._asked_at = True, None
            return
        self._room.sent(piece.end - self._cursor)
        yield piece.after(self._cursor).text
        self._cursor = piece.end

    def _replayed(self, body: ReplayBody) -> Iterator[Frame]:
        if self._asked_at is None:
            return  # a second answer to what was asked twice
        piece, start, end = ScrollbackPiece(body["at"], body["text"]), body["start"], body["end"]
        if self._cursor < 0 or self._cursor > end:
            self._cursor = piece.at
        # Further back it is not kept any more.
        self._cursor = max(self._cursor, start)
        if piece.at > self._cursor:
            self._ask()  # a piece of the answer got lost
            return
        if piece.end > self._cursor:
            yield from self._send(piece)
        if self._is_behind:
            return
        if not body["more"]:
            self._asked_at = None
            yield _control({"cursor": self._cursor})
            self._expect(end)

    def _expect(self, end: int) -> None:
        if self._asked_at is None and end > self._cursor and not self._is_behind:
            self._ask()

    def _ask(self) -> None:
        self._asked_at = time.monotonic()
        link.send_read(self._id, self._socket, self._cursor)


def _control(data: dict[str, int]) -> bytes:
    return b"\0" + json.dumps(data, separators=(",", ":")).encode()
