from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.cursors import Cursors
    from ..models.message_v2 import MessageV2


T = TypeVar("T", bound="PagedlistMessageV2")


@_attrs_define
class PagedlistMessageV2:
    """
    Attributes:
        cursor (Cursors):
        data (list[MessageV2]):
    """

    cursor: Cursors
    data: list[MessageV2]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cursor = self.cursor.to_dict()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cursor": cursor,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.cursors import Cursors
        from ..models.message_v2 import MessageV2

        d = dict(src_dict)
        cursor = Cursors.from_dict(d.pop("cursor"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = MessageV2.from_dict(data_item_data)

            data.append(data_item)

        pagedlist_message_v2 = cls(
            cursor=cursor,
            data=data,
        )

        pagedlist_message_v2.additional_properties = d
        return pagedlist_message_v2

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
