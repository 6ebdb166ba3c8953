from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.todo_item_priority import TodoItemPriority
from ..models.todo_item_status import TodoItemStatus

T = TypeVar("T", bound="TodoItem")


@_attrs_define
class TodoItem:
    """Field names and words are the wire's.

    Attributes:
        content (str):
        priority (TodoItemPriority):
        status (TodoItemStatus):
    """

    content: str
    priority: TodoItemPriority
    status: TodoItemStatus

    def to_dict(self) -> dict[str, Any]:
        content = self.content

        priority = self.priority.value

        status = self.status.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "content": content,
                "priority": priority,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        content = d.pop("content")

        priority = TodoItemPriority(d.pop("priority"))

        status = TodoItemStatus(d.pop("status"))

        todo_item = cls(
            content=content,
            priority=priority,
            status=status,
        )

        return todo_item
