"""The list of a session: as it stands, and as the messages that are left say it was."""

from __future__ import annotations

from opencode_web.lib.json import JsonObject
from sessions.events.todos import TodoItem, TodosUpdated
from sessions.events.types import SessionEvent
from sessions.models import Part, Session, TodoList
from tools.todo import read_items

_WRITTEN = {"type": "tool", "data__tool": "todowrite", "data__state__status": "completed"}


def load_todos(session_id: str) -> list[JsonObject]:
    """Returns: the items in their order, as on the wire."""
    row = TodoList.objects.filter(session=session_id).first()
    return list(row.items) if row is not None else []


def restored_todos(session: Session) -> list[SessionEvent]:
    """The event that gives a session the list which its visible messages wrote last.

    For after these have changed: a rollback, its undoing, a fork, an import.

    Returns: nothing when that is the list it has.
    """
    part = Part.objects.visible(session).filter(**_WRITTEN).order_by("-seq", "-pk").first()
    metadata = part.data["state"].get("metadata") or {} if part is not None else {}
    items = [
        TodoItem(content=item.content, status=item.status.value, priority=item.priority.value)
        for item in read_items(metadata.get("todos") or [])
    ]
    if [item.to_json() for item in items] == load_todos(session.pk):
        return []
    return [TodosUpdated(todos=items)]
