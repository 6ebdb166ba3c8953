"""How a command stands in the metadata of parts: of the prompt that it becomes, and of the calls
that are made for it before the first turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.commands.template import TemplatePiece
from sessions.events.parts import AnyPart, TextPart, ToolPart

KEY = "command"
SUBTASK = "subtask"
# What the model is asked after the report of a command's sub-agent.
GO_ON = "Sum up for me what came of this, and go on with your task if there is more to do."


@dataclass(frozen=True)
class Subtask:
    """Which agent works on the prompt in a session of its own, and what that is called."""

    agent: str
    description: str


@dataclass(frozen=True)
class Mark:
    """What is left to do for a prompt that a command became; nothing without pieces and subtask."""

    name: str
    arguments: str
    # The whole text, with the shell parts that are to be run; none when there are none.
    pieces: tuple[TemplatePiece, ...] = ()
    subtask: Subtask | None = None
    # A shell line that a person typed: it is run, and no turn of a model follows.
    typed: bool = False

    def to_json(self) -> JsonObject:
        """Returns: the value under `KEY`."""
        mark: JsonObject = {"name": self.name, "arguments": self.arguments}
        if self.pieces:
            pieces: list[JsonValue] = [
                {"shell" if piece.is_shell else "text": piece.text} for piece in self.pieces
            ]
            mark["pieces"] = pieces
        if self.subtask is not None:
            subtask: JsonObject = {
                "agent": self.subtask.agent,
                "description": self.subtask.description,
            }
            mark["subtask"] = subtask
        if self.typed:
            mark["typed"] = True
        return mark


def read_mark(part: AnyPart) -> Mark | None:
    """Returns: the mark of a prompt's text; None for one that is no command's."""
    data = (part.metadata or {}).get(KEY) if isinstance(part, TextPart) else None
    if not isinstance(data, dict):
        return None
    pieces, subtask = data.get("pieces"), data.get("subtask")
    return Mark(
        str(data.get("name", "")),
        str(data.get("arguments", "")),
        tuple(_piece(one) for one in pieces if isinstance(one, dict))
        if isinstance(pieces, list)
        else (),
        Subtask(str(subtask.get("agent", "")), str(subtask.get("description", "")))
        if isinstance(subtask, dict)
        else None,
        typed=data.get("typed") is True,
    )


def _piece(data: JsonObject) -> TemplatePiece:
    return TemplatePiece(str(data.get("shell", data.get("text", ""))), is_shell="shell" in data)


def with_mark(part: TextPart, mark: Mark) -> TextPart:
    """Returns: the part with this mark in place of any other."""
    return part.model_copy(update={"metadata": {**(part.metadata or {}), KEY: mark.to_json()}})


def is_subtask(mark: JsonObject | None) -> bool:
    """Whether the mark of a call is that of a sub-agent which a person asked for."""
    return mark is not None and (not mark or SUBTASK in mark)


def call_of(part: AnyPart) -> JsonObject | None:
    """Returns: of a call that no model made: `{part, piece}` of a shell part, `{}` of a command's
    sub-agent, `{subtask}` of that of a part, `{typed}` of a typed line; None for one of a model."""
    data = (part.metadata or {}).get(KEY) if isinstance(part, ToolPart) else None
    return data if isinstance(data, dict) else None


def is_typed(part: AnyPart) -> bool:
    """Whether it is the call of a shell line that a person typed."""
    return (call_of(part) or {}).get("typed") is True


def is_shell_step(parts: Sequence[AnyPart]) -> bool:
    """Whether an answer has only calls of shell parts, whose outputs the prompt has."""
    marks = [call_of(part) for part in parts if isinstance(part, ToolPart)]
    return bool(marks) and all(mark and "piece" in mark for mark in marks)


def is_subtask_step(parts: Sequence[AnyPart]) -> bool:
    """Whether an answer is the call of a sub-agent that a person asked for."""
    return any(is_subtask(call_of(part)) for part in parts)
