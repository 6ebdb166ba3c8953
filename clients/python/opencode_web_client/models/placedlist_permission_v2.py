from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.permission_v2 import PermissionV2
    from ..models.place import Place


T = TypeVar("T", bound="PlacedlistPermissionV2")


@_attrs_define
class PlacedlistPermissionV2:
    """
    Attributes:
        data (list[PermissionV2]):
        location (Place):
    """

    data: list[PermissionV2]
    location: Place
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        location = self.location.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "location": location,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.permission_v2 import PermissionV2
        from ..models.place import Place

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = PermissionV2.from_dict(data_item_data)

            data.append(data_item)

        location = Place.from_dict(d.pop("location"))

        placedlist_permission_v2 = cls(
            data=data,
            location=location,
        )

        placedlist_permission_v2.additional_properties = d
        return placedlist_permission_v2

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
