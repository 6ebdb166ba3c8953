from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.file_diff import FileDiff


T = TypeVar("T", bound="PromptSummary")


@_attrs_define
class PromptSummary:
    """
    Attributes:
        diffs (list[FileDiff]):
    """

    diffs: list[FileDiff]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        diffs = []
        for diffs_item_data in self.diffs:
            diffs_item = diffs_item_data.to_dict()
            diffs.append(diffs_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "diffs": diffs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.file_diff import FileDiff

        d = dict(src_dict)
        diffs = []
        _diffs = d.pop("diffs")
        for diffs_item_data in _diffs:
            diffs_item = FileDiff.from_dict(diffs_item_data)

            diffs.append(diffs_item)

        prompt_summary = cls(
            diffs=diffs,
        )

        prompt_summary.additional_properties = d
        return prompt_summary

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
