from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.attempt_status_status import AttemptStatusStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attempt_time import AttemptTime


T = TypeVar("T", bound="AttemptStatus")


@_attrs_define
class AttemptStatus:
    """
    Attributes:
        status (AttemptStatusStatus):
        time (AttemptTime):
        message (str | Unset):
    """

    status: AttemptStatusStatus
    time: AttemptTime
    message: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status = self.status.value

        time = self.time.to_dict()

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "time": time,
            }
        )
        if message is not UNSET:
            field_dict["message"] = message

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_time import AttemptTime

        d = dict(src_dict)
        status = AttemptStatusStatus(d.pop("status"))

        time = AttemptTime.from_dict(d.pop("time"))

        message = d.pop("message", UNSET)

        attempt_status = cls(
            status=status,
            time=time,
            message=message,
        )

        attempt_status.additional_properties = d
        return attempt_status

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
