from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.synced_event_data import SyncedEventData


T = TypeVar("T", bound="SyncedEvent")


@_attrs_define
class SyncedEvent:
    """
    Attributes:
        aggregate_id (str):
        data (SyncedEventData):
        id (str):
        seq (int):
        type_ (str):
    """

    aggregate_id: str
    data: SyncedEventData
    id: str
    seq: int
    type_: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        aggregate_id = self.aggregate_id

        data = self.data.to_dict()

        id = self.id

        seq = self.seq

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "aggregate_id": aggregate_id,
                "data": data,
                "id": id,
                "seq": seq,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.synced_event_data import SyncedEventData

        d = dict(src_dict)
        aggregate_id = d.pop("aggregate_id")

        data = SyncedEventData.from_dict(d.pop("data"))

        id = d.pop("id")

        seq = d.pop("seq")

        type_ = d.pop("type")

        synced_event = cls(
            aggregate_id=aggregate_id,
            data=data,
            id=id,
            seq=seq,
            type_=type_,
        )

        synced_event.additional_properties = d
        return synced_event

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
