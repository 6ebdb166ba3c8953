"""What goes over the bus between the worker that has a terminal and the sockets that show it.

From the worker, to `output_group`, by `t`:
* `out`     {at, text}: what the program has just written
* `replay`  {to, at, text, start, end, more}: for one socket, what it asked for; from `start` to
            `end` output is kept
* `taken`   {to, n}: typed pieces of a socket up to this one have been taken
* `tick`    {end}: it is alive, and output ends here
* `size`    {rows, columns}: for those who only look on; their own size counts for nothing
* `exited`  {code}: the program has ended; nothing follows

To the worker, to `input_group`:
* `type`    {from, n, text}: a typed piece of a socket
* `read`    {from, at}: a socket wants the output from there on
* `size`    {rows, columns}
* `end`     {}: look at the row now
"""

from __future__ import annotations

from opencode_web.lib.bus import publish
from opencode_web.lib.json import JsonObject
from sessions.terminals.scrollback import Piece

# Of one replay message. The bus and the socket take more, but others wait behind it.
PIECE_UNITS = 65_536


def output_group(terminal_id: str) -> str:
    """Returns: the group of what a terminal's worker says."""
    return f"terminal.{terminal_id}"


def input_group(terminal_id: str) -> str:
    """Returns: the group that a terminal's worker listens to."""
    return f"terminal-in.{terminal_id}"


def send_type(terminal_id: str, socket: str, number: int, text: str) -> None:
    """Hand a typed piece over; it may get lost."""
    publish(input_group(terminal_id), {"t": "type", "from": socket, "n": number, "text": text})


def send_read(terminal_id: str, socket: str, at: int) -> None:
    """Ask for the output from a position on; -1 stands for its end."""
    publish(input_group(terminal_id), {"t": "read", "from": socket, "at": at})


def send_size(terminal_id: str, *, rows: int, columns: int) -> None:
    """Have the terminal resized."""
    body: JsonObject = {"t": "size", "rows": rows, "columns": columns}
    publish(input_group(terminal_id), body)
    publish(output_group(terminal_id), body)


def send_end(terminal_id: str) -> None:
    """Have the worker look at the row now instead of soon."""
    publish(input_group(terminal_id), {"t": "end"})


def say_output(terminal_id: str, piece: Piece) -> None:
    """Tell every socket what was written."""
    publish(output_group(terminal_id), {"t": "out", "at": piece.at, "text": piece.text})


def say_replay(
    terminal_id: str, socket: str, piece: Piece, *, start: int, end: int, more: bool
) -> None:
    """Answer a socket."""
    publish(
        output_group(terminal_id),
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
    publish(output_group(terminal_id), {"t": "taken", "to": socket, "n": number})


def say_tick(terminal_id: str, *, end: int) -> None:
    """Tell every socket that the terminal is alive."""
    publish(output_group(terminal_id), {"t": "tick", "end": end})


def say_exited(terminal_id: str, code: int | None) -> None:
    """Tell every socket that nothing follows."""
    publish(output_group(terminal_id), {"t": "exited", "code": code})
