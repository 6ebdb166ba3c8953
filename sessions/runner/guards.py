"""Notice a model that goes round in circles. Pure; the cost is bounded by the sizes below.

- The same call with equal arguments three times in a row, also over steps: asked (`doom_loop`).
- Two calls that alternate, A B A B A B: asked.
- The same long text beside the calls of three steps in a row: its calls are asked.
- One text that repeats itself without end within a stream: the turn is stopped.

What a person says in between starts the count anew: it may well be "run it again".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject
from providers.messages import AssistantMessage, Message, Text, ToolCall, UserMessage

SAME_CALLS = 3
ALTERNATING_CALLS = 6
SAME_TEXTS = 3
# A shorter text may rightly stand before each of several calls: "Let me look at the next file."
MIN_TEXT_CHARS = 200

# A unit of up to a thousand characters that fills this window was written six times or more.
WINDOW_CHARS = 6_000
_PROBE_CHARS = 2_000
_MAX_UNIT_CHARS = _PROBE_CHARS // 2


@dataclass(frozen=True)
class Call:
    """A call as it is compared."""

    tool: str
    arguments: JsonObject

    def is_same(self, other: Call) -> bool:
        """Equal as JSON: to Python, 1 and true would be equal too."""
        return (
            self.tool == other.tool
            and self.arguments == other.arguments
            and json.dumps(self.arguments, sort_keys=True)
            == json.dumps(other.arguments, sort_keys=True)
        )


def find_loops(messages: Sequence[Message], calls: Sequence[Call], text: str) -> list[str]:
    """Look at the calls of a new answer in the light of what the model did before it.

    `messages` is the request that the answer came from, `text` what the answer says.

    Returns: for each call a sentence about the circle that it closes, or "".
    """
    said = _said_again(messages, text) if calls else ""
    window = [*_earlier_calls(messages)][::-1]
    found = []
    for call in calls:
        window = [*window[-(ALTERNATING_CALLS - 1) :], call]
        found.append(_circle(window) or said)
    return found


def _circle(window: list[Call]) -> str:
    newest = window[-1]
    row = window[-SAME_CALLS:]
    if len(row) == SAME_CALLS and all(call.is_same(newest) for call in row):
        return "The agent makes the same call for the third time in a row."
    row = window[-ALTERNATING_CALLS:]
    if len(row) < ALTERNATING_CALLS or row[0].is_same(row[1]):
        return ""
    if all(call.is_same(row[index % 2]) for index, call in enumerate(row)):
        return "The agent makes the same two calls in turn, for the third time."
    return ""


def _said_again(messages: Sequence[Message], text: str) -> str:
    words = text.split()
    if sum(map(len, words)) < MIN_TEXT_CHARS:
        return ""
    earlier = []
    for message in _this_turn(messages):
        if isinstance(message, AssistantMessage):
            earlier.append(
                " ".join(part.text for part in message.content if isinstance(part, Text)).split()
            )
            if len(earlier) == SAME_TEXTS - 1:
                break
    if len(earlier) == SAME_TEXTS - 1 and all(other == words for other in earlier):
        return "The agent says the same for the third time in a row."
    return ""


def _this_turn(messages: Sequence[Message]) -> Iterator[Message]:
    """From the newest message back to what a person said last."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return
        yield message


def inner_id(call_id: str, number: int) -> str:
    """Returns: the id of a call that the batch `call_id` made."""
    return f"{call_id}_b{number}"


def _own_calls(message: AssistantMessage) -> list[ToolCall]:
    """What the model called itself: the calls of a batch are compared as the batch."""
    calls = [part for part in message.content if isinstance(part, ToolCall)]
    inside = tuple(f"{call.id}_b" for call in calls if call.name == "batch")
    return [call for call in calls if not call.id.startswith(inside)]


def _earlier_calls(messages: Sequence[Message]) -> Iterator[Call]:
    """The last calls before the new answer, newest first."""
    left = ALTERNATING_CALLS - 1
    for message in _this_turn(messages):
        if not isinstance(message, AssistantMessage):
            continue
        for part in reversed(_own_calls(message)):
            if left:
                left -= 1
                yield Call(part.name, part.arguments)
        if not left:
            return


class Monologue:
    """Watches one growing text. Each character is looked at about twice the window's step."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0

    def grow(self, text: str) -> bool:
        """Returns: whether the end of the text is one short piece, again and again."""
        self._tail = (self._tail + text)[-WINDOW_CHARS:]
        self._unchecked += len(text)
        if self._unchecked < _MAX_UNIT_CHARS or len(self._tail) < WINDOW_CHARS:
            return False
        self._unchecked = 0
        return _unit_chars(self._tail) is not None


def _unit_chars(text: str) -> int | None:
    """Returns: the length of the piece that the whole text repeats; None when there is none."""
    probe = text[-_PROBE_CHARS:]
    # Where the end of the text stood before: if it repeats, that is one unit further ahead.
    found = text.rfind(probe, -_PROBE_CHARS - _MAX_UNIT_CHARS, -1)
    if found < 0:
        return None
    unit = len(text) - _PROBE_CHARS - found
    return unit if text[unit:] == text[:-unit] else None
