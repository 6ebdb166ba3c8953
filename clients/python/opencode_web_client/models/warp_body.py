from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="WarpBody")


@_attrs_define
class WarpBody:
    """Which workspace a session moves to; none is this server.

    Attributes:
        id (None | str):
        session_id (str):
        copy_changes (bool | Unset):  Default: False.
    """

    id: None | str
    session_id: str
    copy_changes: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id: None | str
        id = self.id

        session_id = self.session_id

        copy_changes = self.copy_changes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "sessionID": session_id,
            }
        )
        if copy_changes is not UNSET:
            field_dict["copyChanges"] = copy_changes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        id = _parse_id(d.pop("id"))

        session_id = d.pop("sessionID")

        copy_changes = d.pop("copyChanges", UNSET)

        warp_body = cls(
            id=id,
            session_id=session_id,
            copy_changes=copy_changes,
        )

        warp_body.additional_properties = d
        return warp_body

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
