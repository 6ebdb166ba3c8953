from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.move_destination import MoveDestination


T = TypeVar("T", bound="MoveBody")


@_attrs_define
class MoveBody:
    """Where a session shall go on.

    Attributes:
        destination (MoveDestination): A folder.
        session_id (str):
        move_changes (bool | Unset):  Default: False.
    """

    destination: MoveDestination
    session_id: str
    move_changes: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        destination = self.destination.to_dict()

        session_id = self.session_id

        move_changes = self.move_changes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "destination": destination,
                "sessionID": session_id,
            }
        )
        if move_changes is not UNSET:
            field_dict["moveChanges"] = move_changes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.move_destination import MoveDestination

        d = dict(src_dict)
        destination = MoveDestination.from_dict(d.pop("destination"))

        session_id = d.pop("sessionID")

        move_changes = d.pop("moveChanges", UNSET)

        move_body = cls(
            destination=destination,
            session_id=session_id,
            move_changes=move_changes,
        )

        move_body.additional_properties = d
        return move_body

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
