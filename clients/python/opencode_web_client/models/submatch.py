from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.match_text import MatchText


T = TypeVar("T", bound="Submatch")


@_attrs_define
class Submatch:
    """Units: bytes from the start of the line.

    Attributes:
        end (int):
        match (MatchText):
        start (int):
    """

    end: int
    match: MatchText
    start: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        end = self.end

        match = self.match.to_dict()

        start = self.start

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "end": end,
                "match": match,
                "start": start,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.match_text import MatchText

        d = dict(src_dict)
        end = d.pop("end")

        match = MatchText.from_dict(d.pop("match"))

        start = d.pop("start")

        submatch = cls(
            end=end,
            match=match,
            start=start,
        )

        submatch.additional_properties = d
        return submatch

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
