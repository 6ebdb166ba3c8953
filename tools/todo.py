"""Items of the list that an agent keeps of its work. Reads what models write with some patience."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from opencode_web.lib.json import JsonObject, JsonValue

MAX_ITEMS = 100
MAX_CONTENT_CHARS = 1_000


class Status(StrEnum):
    """How far an item is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Priority(StrEnum):
    """How much it matters."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Todo:
    """One thing to do."""

    content: str
    status: Status = Status.PENDING
    priority: Priority = Priority.MEDIUM

    def to_wire(self) -> JsonObject:
        """Returns: `Todo` of the HTTP API."""
        return {
            "content": self.content,
            "status": self.status.value,
            "priority": self.priority.value,
        }


_STATUSES = {
    **{status.value: status for status in Status},
    **dict.fromkeys(("done", "complete", "finished", "closed"), Status.COMPLETED),
    **dict.fromkeys(("doing", "active", "started", "inprogress", "current"), Status.IN_PROGRESS),
    **dict.fromkeys(("canceled", "dropped", "skipped", "wontdo"), Status.CANCELLED),
}
_PRIORITIES = {
    **{priority.value: priority for priority in Priority},
    **dict.fromkeys(("critical", "urgent", "highest"), Priority.HIGH),
    "lowest": Priority.LOW,
}


def read_status(text: str) -> Status:
    """Returns: the status that is meant; an unknown word means that it is still to be done."""
    return _STATUSES.get(_plain(text), Status.PENDING)


def read_priority(text: str) -> Priority:
    """Returns: the priority that is meant, medium for an unknown word."""
    return _PRIORITIES.get(_plain(text), Priority.MEDIUM)


def _plain(text: str) -> str:
    return text.strip().lower().replace(" ", "_").replace("-", "_")


def read_items(value: JsonValue) -> list[Todo]:
    """Read a list from somewhere else: what is no item is left out, and the rest is bounded."""
    found = []
    for item in value if isinstance(value, list) else []:
        if isinstance(item, dict) and isinstance(content := item.get("content"), str):
            status, priority = str(item.get("status")), str(item.get("priority"))
            cut = content[:MAX_CONTENT_CHARS]
            found.append(Todo(cut, read_status(status), read_priority(priority)))
    return found[:MAX_ITEMS]
