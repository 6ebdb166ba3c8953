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
    from ..models.toast import Toast


T = TypeVar("T", bound="ToastShowEvent")


@_attrs_define
class ToastShowEvent:
    """
    Attributes:
        properties (Toast): A short message. Units: `duration` in milliseconds.
        type_ (Literal['tui.toast.show']):
    """

    properties: Toast
    type_: Literal["tui.toast.show"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        properties = self.properties.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "properties": properties,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.toast import Toast

        d = dict(src_dict)
        properties = Toast.from_dict(d.pop("properties"))

        type_ = cast(Literal["tui.toast.show"], d.pop("type"))
        if type_ != "tui.toast.show":
            raise ValueError(f"type must match const 'tui.toast.show', got '{type_}'")

        toast_show_event = cls(
            properties=properties,
            type_=type_,
        )

        toast_show_event.additional_properties = d
        return toast_show_event

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
