"""A conversation as the text that a summary is written from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from opencode_web.lib.marks import defuse
from providers.llm.messages import (
    AssistantMessage,
    File,
    Message,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

# What a tool said is mostly looked up again when it is needed.
MAX_RESULT_CHARS = 2_000
_CUT = "[cut]"
_LEFT_OUT = "[The older half of the conversation is left out: it was too long to be read.]"
_NAMES = {"image": "a picture", "pdf": "a document"}
_FRAMES = ("conversation", "earlier-notes")

_TASK = """\
Write the notes for the conversation above, from its beginning to its end, in the form that your \
instructions give. Only the notes."""
_MERGE = """\
Before this conversation there was more. All that is left of it are these notes; the agent has \
worked with them since. Take over what they say as far as it still holds, correct what the \
conversation has made untrue, and write one set of notes for both."""


def write_task(messages: Iterable[Message], *, earlier: str, halves: bool = False) -> str:
    """Returns: what the model is asked: the transcript, earlier notes if any, and what to do.

    `halves` leaves the older half of the transcript out, and of the notes their end.
    """
    told = "\n\n".join(line for message in messages for line in _lines(message))
    if halves:
        told = f"{_LEFT_OUT}\n\n{told[len(told) // 2 :]}"
        earlier = earlier[: len(earlier) // 2]
    blocks = [f"<conversation>\n{defuse(told, _FRAMES)}\n</conversation>"]
    if earlier:
        blocks.append(f"{_MERGE}\n\n<earlier-notes>\n{defuse(earlier, _FRAMES)}\n</earlier-notes>")
    return "\n\n".join([*blocks, _TASK])


def _lines(message: Message) -> Iterator[str]:
    match message:
        case UserMessage():
            yield from (f"[User] {_say(part)}" for part in message.content)
        case AssistantMessage():
            yield from (_say_of_assistant(part) for part in message.content)
        case ToolResultMessage():
            who = "Tool error" if message.is_error else "Tool result"
            output = message.output
            if len(output) > MAX_RESULT_CHARS:
                output = f"{output[:MAX_RESULT_CHARS]} {_CUT}"
            yield f"[{who}] {output}"
            yield from (f"[{who}] {_say(file)}" for file in message.files)
        case SystemMessage():
            pass  # the next epoch tells what holds then


def _say(part: Text | File) -> str:
    return (
        part.text
        if isinstance(part, Text)
        else f"({_NAMES.get(part.kind, part.kind)}, {part.mime})"
    )


def _say_of_assistant(part: Text | Reasoning | ToolCall) -> str:
    match part:
        case Text():
            return f"[Assistant] {part.text}"
        case Reasoning():
            return f"[Assistant, thinking] {part.text}"
        case ToolCall():
            arguments = json.dumps(part.arguments, ensure_ascii=False)
            return f"[Assistant calls a tool] {part.name} {arguments}"
