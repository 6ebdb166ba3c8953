from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.match_text import MatchText
    from ..models.submatch import Submatch


T = TypeVar("T", bound="FoundLine")


@_attrs_define
class FoundLine:
    """
    Attributes:
        absolute_offset (int):
        line_number (int):
        lines (MatchText):
        path (MatchText):
        submatches (list[Submatch]):
    """

    absolute_offset: int
    line_number: int
    lines: MatchText
    path: MatchText
    submatches: list[Submatch]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        absolute_offset = self.absolute_offset

        line_number = self.line_number

        lines = self.lines.to_dict()

        path = self.path.to_dict()

        submatches = []
        for submatches_item_data in self.submatches:
            submatches_item = submatches_item_data.to_dict()
            submatches.append(submatches_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "absolute_offset": absolute_offset,
                "line_number": line_number,
                "lines": lines,
                "path": path,
                "submatches": submatches,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.match_text import MatchText
        from ..models.submatch import Submatch

        d = dict(src_dict)
        absolute_offset = d.pop("absolute_offset")

        line_number = d.pop("line_number")

        lines = MatchText.from_dict(d.pop("lines"))

        path = MatchText.from_dict(d.pop("path"))

        submatches = []
        _submatches = d.pop("submatches")
        for submatches_item_data in _submatches:
            submatches_item = Submatch.from_dict(submatches_item_data)

            submatches.append(submatches_item)

        found_line = cls(
            absolute_offset=absolute_offset,
            line_number=line_number,
            lines=lines,
            path=path,
            submatches=submatches,
        )

        found_line.additional_properties = d
        return found_line

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
