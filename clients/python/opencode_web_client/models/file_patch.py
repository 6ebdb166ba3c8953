from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.hunk import Hunk


T = TypeVar("T", bound="FilePatch")


@_attrs_define
class FilePatch:
    """
    Attributes:
        hunks (list[Hunk]):
        new_file_name (str):
        old_file_name (str):
    """

    hunks: list[Hunk]
    new_file_name: str
    old_file_name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hunks = []
        for hunks_item_data in self.hunks:
            hunks_item = hunks_item_data.to_dict()
            hunks.append(hunks_item)

        new_file_name = self.new_file_name

        old_file_name = self.old_file_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hunks": hunks,
                "newFileName": new_file_name,
                "oldFileName": old_file_name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hunk import Hunk

        d = dict(src_dict)
        hunks = []
        _hunks = d.pop("hunks")
        for hunks_item_data in _hunks:
            hunks_item = Hunk.from_dict(hunks_item_data)

            hunks.append(hunks_item)

        new_file_name = d.pop("newFileName")

        old_file_name = d.pop("oldFileName")

        file_patch = cls(
            hunks=hunks,
            new_file_name=new_file_name,
            old_file_name=old_file_name,
        )

        file_patch.additional_properties = d
        return file_patch

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
