from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.option_v2 import OptionV2


T = TypeVar("T", bound="AskedV2")


@_attrs_define
class AskedV2:
    """
    Attributes:
        header (str):
        options (list[OptionV2]):
        question (str):
        custom (bool | Unset):
        multiple (bool | Unset):
    """

    header: str
    options: list[OptionV2]
    question: str
    custom: bool | Unset = UNSET
    multiple: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        header = self.header

        options = []
        for options_item_data in self.options:
            options_item = options_item_data.to_dict()
            options.append(options_item)

        question = self.question

        custom = self.custom

        multiple = self.multiple

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "header": header,
                "options": options,
                "question": question,
            }
        )
        if custom is not UNSET:
            field_dict["custom"] = custom
        if multiple is not UNSET:
            field_dict["multiple"] = multiple

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.option_v2 import OptionV2

        d = dict(src_dict)
        header = d.pop("header")

        options = []
        _options = d.pop("options")
        for options_item_data in _options:
            options_item = OptionV2.from_dict(options_item_data)

            options.append(options_item)

        question = d.pop("question")

        custom = d.pop("custom", UNSET)

        multiple = d.pop("multiple", UNSET)

        asked_v2 = cls(
            header=header,
            options=options,
            question=question,
            custom=custom,
            multiple=multiple,
        )

        asked_v2.additional_properties = d
        return asked_v2

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
