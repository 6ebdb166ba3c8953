"""What the row of a shell command shows, while it runs and afterwards."""

from __future__ import annotations

import re

from opencode_web.lib.ansi import lines_to_html, to_plain_lines
from opencode_web.lib.json import number_of, text_of
from sessions.events.stored import StoredState
from sessions.present.conversation.bodies import ShellBody
from sessions.present.place import Place

SHELL_LINES = 40
# What can hold the last line, however long the output is.
_TAIL_CHARS = 4_000
_LINE_CHARS = 200
_SGR = re.compile(r"\x1b\[[0-9;]*m")


def shell_body(
    state: StoredState, *, place: Place, url: str, whole: bool, stop_url: str = ""
) -> ShellBody:
    """The command with the last lines of its output, or with all of them."""
    given, metadata = state.get("input", {}), state.get("metadata", {})
    text = text_of(metadata, "output") or state.get("output", "")
    lines = to_plain_lines(text.rstrip("\n")) if text else []
    shown = lines if whole else lines[-SHELL_LINES:]
    return ShellBody(
        command=text_of(given, "command"),
        cwd=place.short(text_of(given, "workdir")),
        output=lines_to_html(shown),
        hidden=len(lines) - len(shown),
        url=url,
        exit=number_of(metadata, "exit"),
        live=state["status"] in ("pending", "running"),
        stop_url=stop_url,
    )


def last_line(state: StoredState) -> str:
    """The last line that says something, without colours and what moves a cursor."""
    text = text_of(state.get("metadata", {}), "output")[-_TAIL_CHARS:]
    # What is left of an escape sequence that was cut is no text either.
    lines = (_SGR.sub("", line) for line in reversed(to_plain_lines(text)))
    said = ("".join(filter(str.isprintable, line)).strip() for line in lines)
    return next(filter(None, said), "")[-_LINE_CHARS:]
