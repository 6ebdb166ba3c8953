from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.delivery_state import DeliveryState

if TYPE_CHECKING:
    from ..models.created_time import CreatedTime
    from ..models.delivery_payload import DeliveryPayload


T = TypeVar("T", bound="Delivery")


@_attrs_define
class Delivery:
    """
    Attributes:
        attempts (int):
        event (str):
        id (str):
        payload (DeliveryPayload):
        problem (str):
        state (DeliveryState):
        status (int):
        time (CreatedTime): Units: milliseconds since the epoch.
    """

    attempts: int
    event: str
    id: str
    payload: DeliveryPayload
    problem: str
    state: DeliveryState
    status: int
    time: CreatedTime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempts = self.attempts

        event = self.event

        id = self.id

        payload = self.payload.to_dict()

        problem = self.problem

        state = self.state.value

        status = self.status

        time = self.time.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attempts": attempts,
                "event": event,
                "id": id,
                "payload": payload,
                "problem": problem,
                "state": state,
                "status": status,
                "time": time,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.created_time import CreatedTime
        from ..models.delivery_payload import DeliveryPayload

        d = dict(src_dict)
        attempts = d.pop("attempts")

        event = d.pop("event")

        id = d.pop("id")

        payload = DeliveryPayload.from_dict(d.pop("payload"))

        problem = d.pop("problem")

        state = DeliveryState(d.pop("state"))

        status = d.pop("status")

        time = CreatedTime.from_dict(d.pop("time"))

        delivery = cls(
            attempts=attempts,
            event=event,
            id=id,
            payload=payload,
            problem=problem,
            state=state,
            status=status,
            time=time,
        )

        delivery.additional_properties = d
        return delivery

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
