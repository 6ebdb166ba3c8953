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
    from ..models.select_session import SelectSession


T = TypeVar("T", bound="SessionSelectEvent")


@_attrs_define
class SessionSelectEvent:
    """
    Attributes:
        properties (SelectSession): A session.
        type_ (Literal['tui.session.select']):
    """

    properties: SelectSession
    type_: Literal["tui.session.select"]
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
        from ..models.select_session import SelectSession

        d = dict(src_dict)
        properties = SelectSession.from_dict(d.pop("properties"))

        type_ = cast(Literal["tui.session.select"], d.pop("type"))
        if type_ != "tui.session.select":
            raise ValueError(
                f"type must match const 'tui.session.select', got '{type_}'"
            )

        session_select_event = cls(
            properties=properties,
            type_=type_,
        )

        session_select_event.additional_properties = d
        return session_select_event

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
