from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="DoneTime")


@_attrs_define
class DoneTime:
    """`compacted`: when the model got a placeholder in place of the output, to make room.

    Attributes:
        start (int):
        compacted (int | Unset):
        end (int | Unset):
    """

    start: int
    compacted: int | Unset = UNSET
    end: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        start = self.start

        compacted = self.compacted

        end = self.end

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "start": start,
            }
        )
        if compacted is not UNSET:
            field_dict["compacted"] = compacted
        if end is not UNSET:
            field_dict["end"] = end

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        start = d.pop("start")

        compacted = d.pop("compacted", UNSET)

        end = d.pop("end", UNSET)

        done_time = cls(
            start=start,
            compacted=compacted,
            end=end,
        )

        return done_time
