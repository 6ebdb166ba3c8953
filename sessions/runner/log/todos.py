"""The list of a session as its calls write and read it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from sessions.events.store import append, lock_session
from sessions.events.todos import TodoItem, TodosUpdated
from sessions.runner.log.lease import Lease
from sessions.todos import load_todos
from tools.todo import Todo, read_items


@transaction.atomic
def write_todos(lease: Lease, todos: Sequence[Todo]) -> None:
    """Replace the list. Raises: SessionGone; LeaseLost."""
    session = lock_session(lease.session_id, token=lease.token)
    items = [
        TodoItem(content=todo.content, status=todo.status.value, priority=todo.priority.value)
        for todo in todos
    ]
    append(session, [TodosUpdated(todos=items)])


def read_todos(session_id: str) -> list[Todo]:
    """Returns: the list as it stands."""
    return read_items([*load_todos(session_id)])
