from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.message_time_v2 import MessageTimeV2


T = TypeVar("T", bound="ReasoningV2")


@_attrs_define
class ReasoningV2:
    """
    Attributes:
        id (str):
        text (str):
        time (MessageTimeV2):
        type_ (Literal['reasoning']):
    """

    id: str
    text: str
    time: MessageTimeV2
    type_: Literal["reasoning"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        text = self.text

        time = self.time.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "text": text,
                "time": time,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_time_v2 import MessageTimeV2

        d = dict(src_dict)
        id = d.pop("id")

        text = d.pop("text")

        time = MessageTimeV2.from_dict(d.pop("time"))

        type_ = cast(Literal["reasoning"], d.pop("type"))
        if type_ != "reasoning":
            raise ValueError(f"type must match const 'reasoning', got '{type_}'")

        reasoning_v2 = cls(
            id=id,
            text=text,
            time=time,
            type_=type_,
        )

        reasoning_v2.additional_properties = d
        return reasoning_v2

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
