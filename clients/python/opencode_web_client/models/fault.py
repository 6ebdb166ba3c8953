from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.fault_data import FaultData


T = TypeVar("T", bound="Fault")


@_attrs_define
class Fault:
    """The one error shape. `_tag` and `message` are those of the SDK's types.

    Attributes:
        field_tag (str):
        data (FaultData):
        message (str):
        name (str):
    """

    field_tag: str
    data: FaultData
    message: str
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        field_tag = self.field_tag

        data = self.data.to_dict()

        message = self.message

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "_tag": field_tag,
                "data": data,
                "message": message,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.fault_data import FaultData

        d = dict(src_dict)
        field_tag = d.pop("_tag")

        data = FaultData.from_dict(d.pop("data"))

        message = d.pop("message")

        name = d.pop("name")

        fault = cls(
            field_tag=field_tag,
            data=data,
            message=message,
            name=name,
        )

        fault.additional_properties = d
        return fault

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
