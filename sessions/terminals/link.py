"""What goes over the bus between the worker that has a terminal and the sockets that show it."""

from __future__ import annotations

from typing import Literal, TypedDict

from opencode_web.lib.bus import publish
from sessions.terminals.scrollback import ScrollbackPiece

# Of one replay message. The bus and the socket take more, but others wait behind it.
PIECE_UNITS = 65_536


class OutBody(TypedDict):
    """What the program has just written."""

    t: Literal["out"]
    at: int
    text: str


class ReplayBody(TypedDict):
    """For one socket, what it asked for. From `start` to `end` output is kept."""

    t: Literal["replay"]
    to: str
    at: int
    text: str
    start: int
    end: int
    more: bool


class TakenBody(TypedDict):
    """Typed pieces of a socket up to this one have been taken."""

    t: Literal["taken"]
    to: str
    n: int


class TickBody(TypedDict):
    """The worker is alive, and output ends here."""

    t: Literal["tick"]
    end: int


class SizeBody(TypedDict):
    """The size of the terminal. Those who only look on hear it: their own counts for nothing."""

    t: Literal["size"]
    rows: int
    columns: int


class ExitedBody(TypedDict):
    """The program has ended; nothing follows."""

    t: Literal["exited"]
    code: int | None


# A piece that was typed into a socket.
TypeBody = TypedDict("TypeBody", {"t": Literal["type"], "from": str, "n": int, "text": str})
# A socket wants the output from there on; -1 stands for its end.
ReadBody = TypedDict("ReadBody", {"t": Literal["read"], "from": str, "at": int})


class EndBody(TypedDict):
    """Have the worker look at the row now."""

    t: Literal["end"]


# From the worker, to `output_group`.
OutputBody = OutBody | ReplayBody | TakenBody | TickBody | SizeBody | ExitedBody
# To the worker, to `input_group`.
InputBody = TypeBody | ReadBody | SizeBody | EndBody


def output_group(terminal_id: str) -> str:
    """Returns: the group of what a terminal's worker says."""
    return f"terminal.{terminal_id}"


def input_group(terminal_id: str) -> str:
    """Returns: the group that a terminal's worker listens to."""
    return f"terminal-in.{terminal_id}"


def _send(terminal_id: str, body: InputBody) -> None:
    publish(input_group(terminal_id), body)


def _say(terminal_id: str, body: OutputBody) -> None:
    publish(output_group(terminal_id), body)


def send_type(terminal_id: str, socket: str, number: int, text: str) -> None:
    """Hand a typed piece over; it may get lost."""
    _send(terminal_id, {"t": "type", "from": socket, "n": number, "text": text})


def send_read(terminal_id: str, socket: str, at: int) -> None:
    """Ask for the output from a position on; -1 stands for its end."""
    _send(terminal_id, {"t": "read", "from": socket, "at": at})


def send_size(terminal_id: str, *, rows: int, columns: int) -> None:
    """Have the terminal resized."""
    body: SizeBody = {"t": "size", "rows": rows, "columns": columns}
    _send(terminal_id, body)
    _say(terminal_id, body)


def send_end(terminal_id: str) -> None:
    """Have the worker look at the row now instead of soon."""
    _send(terminal_id, {"t": "end"})


def say_output(terminal_id: str, piece: ScrollbackPiece) -> None:
    """Tell every socket what was written."""
    _say(terminal_id, {"t": "out", "at": piece.at, "text": piece.text})


def say_replay(
    terminal_id: str, socket: str, piece: ScrollbackPiece, *, start: int, end: int, more: bool
) -> None:
    """Answer a socket."""
    _say(
        terminal_id,
        {
            "t": "replay",
            "to": socket,
            "at": piece.at,
            "text": piece.text,
            "start": start,
            "end": end,
            "more": more,
        },
    )


def say_taken(terminal_id: str, socket: str, number: int) -> None:
    """Tell a socket how far its pieces have been taken."""
    _say(terminal_id, {"t": "taken", "to": socket, "n": number})


def say_tick(terminal_id: str, *, end: int) -> None:
    """Tell every socket that the terminal is alive."""
    _say(terminal_id, {"t": "tick", "end": end})


def say_exited(terminal_id: str, code: int | None) -> None:
    """Tell every socket that nothing follows."""
    _say(terminal_id, {"t": "exited", "code": code})
