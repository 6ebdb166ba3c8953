from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.durable_at import DurableAt
    from ..models.durable_event_data import DurableEventData


T = TypeVar("T", bound="DurableEvent")


@_attrs_define
class DurableEvent:
    """
    Attributes:
        data (DurableEventData):
        durable (DurableAt):
        id (str):
        type_ (str):
    """

    data: DurableEventData
    durable: DurableAt
    id: str
    type_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = self.data.to_dict()

        durable = self.durable.to_dict()

        id = self.id

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "durable": durable,
                "id": id,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.durable_at import DurableAt
        from ..models.durable_event_data import DurableEventData

        d = dict(src_dict)
        data = DurableEventData.from_dict(d.pop("data"))

        durable = DurableAt.from_dict(d.pop("durable"))

        id = d.pop("id")

        type_ = d.pop("type")

        durable_event = cls(
            data=data,
            durable=durable,
            id=id,
            type_=type_,
        )

        durable_event.additional_properties = d
        return durable_event

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
