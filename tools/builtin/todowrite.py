from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field, field_validator, model_validator

from opencode_web.lib.json import JsonValue, read_json
from tools.base import Params, Tool, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.todo import MAX_CONTENT_CHARS, MAX_ITEMS, Status, Todo, read_priority, read_status


class TodoParams(Params):
    """One item. Status and priority are plain text to the model: a slip costs no second call."""

    content: str = Field(
        min_length=1, max_length=MAX_CONTENT_CHARS, description="What is to be done, in one line."
    )
    status: str = Field("pending", description="pending, in_progress, completed or cancelled.")
    priority: str = Field("medium", description="high, medium or low.")

    @model_validator(mode="before")
    @classmethod
    def _takes_a_line(cls, value: Any) -> Any:  # Any: whatever the model wrote
        return {"content": value} if isinstance(value, str) else value


class TodoWriteParams(Params):
    """The whole list."""

    todos: list[TodoParams] = Field(
        max_length=MAX_ITEMS, description="The whole list, in order; it replaces the one before."
    )

    @field_validator("todos", mode="before")
    @classmethod
    def _takes_text(cls, value: JsonValue) -> JsonValue:
        # Some models write a list within a list of arguments as its JSON.
        if isinstance(value, str) and value.lstrip().startswith("["):
            return read_json(value)
        return value


async def run(params: TodoWriteParams, context: ToolContext) -> ToolResult:
    """Replace the list of the session."""
    await context.ask(PermissionAsk("todowrite", ("*",)))
    todos = [
        Todo(item.content.strip(), read_status(item.status), read_priority(item.priority))
        for item in params.todos
        if item.content.strip()
    ]
    await context.write_todos(todos)
    return todo_result(todos)


def todo_result(todos: Sequence[Todo]) -> ToolResult:
    """What a model reads about a list, and clients too: title and `todos` are theirs."""
    wire = [todo.to_wire() for todo in todos]
    left = sum(todo.status is not Status.COMPLETED for todo in todos)
    return ToolResult(
        title=f"{left} todos",
        output=json.dumps(wire, indent=2, ensure_ascii=False),
        metadata={"todos": list(wire)},
    )


TOOL = Tool("todowrite", TodoWriteParams, run, "todowrite", load_description(__file__))
