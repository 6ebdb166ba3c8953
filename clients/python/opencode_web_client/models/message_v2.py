from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.message_v2_type import MessageV2Type

if TYPE_CHECKING:
    from ..models.message_v2_time import MessageV2Time


T = TypeVar("T", bound="MessageV2")


@_attrs_define
class MessageV2:
    """
    Attributes:
        id (str):
        time (MessageV2Time):
        type_ (MessageV2Type):
    """

    id: str
    time: MessageV2Time
    type_: MessageV2Type
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        time = self.time.to_dict()

        type_ = self.type_.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "time": time,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_v2_time import MessageV2Time

        d = dict(src_dict)
        id = d.pop("id")

        time = MessageV2Time.from_dict(d.pop("time"))

        type_ = MessageV2Type(d.pop("type"))

        message_v2 = cls(
            id=id,
            time=time,
            type_=type_,
        )

        message_v2.additional_properties = d
        return message_v2

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
