from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CallSource")


@_attrs_define
class CallSource:
    """
    Attributes:
        call_id (str):
        message_id (str):
        type_ (Literal['tool']):
    """

    call_id: str
    message_id: str
    type_: Literal["tool"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        call_id = self.call_id

        message_id = self.message_id

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "callID": call_id,
                "messageID": message_id,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        call_id = d.pop("callID")

        message_id = d.pop("messageID")

        type_ = cast(Literal["tool"], d.pop("type"))
        if type_ != "tool":
            raise ValueError(f"type must match const 'tool', got '{type_}'")

        call_source = cls(
            call_id=call_id,
            message_id=message_id,
            type_=type_,
        )

        call_source.additional_properties = d
        return call_source

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
