from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.permission_request_metadata import PermissionRequestMetadata


T = TypeVar("T", bound="PermissionRequest")


@_attrs_define
class PermissionRequest:
    """
    Attributes:
        always (list[str]):
        id (str):
        metadata (PermissionRequestMetadata):
        patterns (list[str]):
        permission (str):
        session_id (str):
    """

    always: list[str]
    id: str
    metadata: PermissionRequestMetadata
    patterns: list[str]
    permission: str
    session_id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        always = self.always

        id = self.id

        metadata = self.metadata.to_dict()

        patterns = self.patterns

        permission = self.permission

        session_id = self.session_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "always": always,
                "id": id,
                "metadata": metadata,
                "patterns": patterns,
                "permission": permission,
                "sessionID": session_id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.permission_request_metadata import PermissionRequestMetadata

        d = dict(src_dict)
        always = cast(list[str], d.pop("always"))

        id = d.pop("id")

        metadata = PermissionRequestMetadata.from_dict(d.pop("metadata"))

        patterns = cast(list[str], d.pop("patterns"))

        permission = d.pop("permission")

        session_id = d.pop("sessionID")

        permission_request = cls(
            always=always,
            id=id,
            metadata=metadata,
            patterns=patterns,
            permission=permission,
            session_id=session_id,
        )

        permission_request.additional_properties = d
        return permission_request

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
