"""What a run shows: the answer on standard output, what is done on the way on standard error."""

from __future__ import annotations

import json
import sys
import time
from typing import Any, Protocol

Json = dict[str, Any]
# The part of a tool's input that says most, for the line about it.
_TELLING = ("filePath", "path", "pattern", "command", "url", "query", "description")
_LINE_CHARS = 120
_CONTROL = {code: None for code in [*range(32), *range(127, 160)] if chr(code) not in "\n\t"}


class Printer(Protocol):
    """Shows a run as it goes."""

    def part(self, part: Json) -> None:
        """A part that will not change any more."""

    def error(self, session: str, error: Json) -> None: ...

    def note(self, text: str) -> None:
        """About the run itself."""


class TextPrinter:
    """For people, and for scripts that want the answer only."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def part(self, part: Json) -> None:
        if part["type"] == "text" and not part.get("synthetic"):
            print(plain(part["text"]), flush=True)
        elif part["type"] == "tool":
            self.note(_tool_line(part))

    def error(self, session: str, error: Json) -> None:
        print(f"Error: {plain(error_text(error))}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        if not self._quiet:
            print(plain(text), file=sys.stderr, flush=True)


class JsonPrinter:
    """One object a line, as `opencode run --format json` prints them."""

    _NAMES = {
        "text": "text",
        "reasoning": "reasoning",
        "tool": "tool_use",
        "step-start": "step_start",
        "step-finish": "step_finish",
    }

    def part(self, part: Json) -> None:
        if name := self._NAMES.get(part["type"]):
            self._print(name, part["sessionID"], part=part)

    def error(self, session: str, error: Json) -> None:
        self._print("error", session, error=error)

    def note(self, text: str) -> None:
        print(plain(text), file=sys.stderr, flush=True)

    @staticmethod
    def _print(kind: str, session: str, **more: Any) -> None:
        now = int(time.time() * 1000)
        print(
            json.dumps({"type": kind, "timestamp": now, "sessionID": session, **more}), flush=True
        )


def plain(text: str) -> str:
    """Without control characters: what a model or a file says must not drive the terminal."""
    return text.translate(_CONTROL)


def error_text(error: Json) -> str:
    """What a person reads of an error of a message."""
    return str(error.get("data", {}).get("message") or error.get("name") or "it failed")


def _tool_line(part: Json) -> str:
    state = part["state"]
    given = state.get("input") or {}
    object_ = next((str(given[name]) for name in _TELLING if given.get(name)), "")
    sign = "✗" if state["status"] == "error" else "•"
    line = f"{sign} {part['tool']} {object_}".replace("\n", " ")
    return line if len(line) <= _LINE_CHARS else f"{line[: _LINE_CHARS - 1]}…"
