from __future__ import annotations

from datetime import datetime

from sessions.events.projectors.rows import Rows
from sessions.events.todos import TodosUpdated
from sessions.models import TodoList


def project_todos(rows: Rows, event: TodosUpdated, seq: int, time: datetime) -> None:
    items = [item.to_json() for item in event.todos]
    TodoList.objects.update_or_create(session=rows.session, defaults={"items": items, "seq": seq})
