from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Hunk")


@_attrs_define
class Hunk:
    """
    Attributes:
        lines (list[str]):
        new_lines (int):
        new_start (int):
        old_lines (int):
        old_start (int):
    """

    lines: list[str]
    new_lines: int
    new_start: int
    old_lines: int
    old_start: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lines = self.lines

        new_lines = self.new_lines

        new_start = self.new_start

        old_lines = self.old_lines

        old_start = self.old_start

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lines": lines,
                "newLines": new_lines,
                "newStart": new_start,
                "oldLines": old_lines,
                "oldStart": old_start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        lines = cast(list[str], d.pop("lines"))

        new_lines = d.pop("newLines")

        new_start = d.pop("newStart")

        old_lines = d.pop("oldLines")

        old_start = d.pop("oldStart")

        hunk = cls(
            lines=lines,
            new_lines=new_lines,
            new_start=new_start,
            old_lines=old_lines,
            old_start=old_start,
        )

        hunk.additional_properties = d
        return hunk

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
