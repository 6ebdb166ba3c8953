from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MessageTime")


@_attrs_define
class MessageTime:
    """Units: milliseconds since the epoch.

    Attributes:
        created (int):
        completed (int | Unset):
    """

    created: int
    completed: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        created = self.created

        completed = self.completed

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "created": created,
            }
        )
        if completed is not UNSET:
            field_dict["completed"] = completed

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        created = d.pop("created")

        completed = d.pop("completed", UNSET)

        message_time = cls(
            created=created,
            completed=completed,
        )

        return message_time
