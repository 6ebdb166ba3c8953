"""What an agent says it is going to do."""

from __future__ import annotations

from typing import Literal

from sessions.events.messages import Frozen


class TodoItem(Frozen):
    """Field names and words are the wire's."""

    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]
    priority: Literal["high", "medium", "low"]


class TodosUpdated(Frozen):
    """The whole list as it is now, in order."""

    type: Literal["todo.updated"] = "todo.updated"
    todos: list[TodoItem]
