from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.attempt_status import AttemptStatus
    from ..models.place import Place


T = TypeVar("T", bound="PlacedAttemptStatus")


@_attrs_define
class PlacedAttemptStatus:
    """
    Attributes:
        data (AttemptStatus):
        location (Place):
    """

    data: AttemptStatus
    location: Place
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        data = self.data.to_dict()

        location = self.location.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
                "location": location,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_status import AttemptStatus
        from ..models.place import Place

        d = dict(src_dict)
        data = AttemptStatus.from_dict(d.pop("data"))

        location = Place.from_dict(d.pop("location"))

        placed_attempt_status = cls(
            data=data,
            location=location,
        )

        placed_attempt_status.additional_properties = d
        return placed_attempt_status

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
