from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.call_source import CallSource
    from ..models.permission_v2_metadata import PermissionV2Metadata


T = TypeVar("T", bound="PermissionV2")


@_attrs_define
class PermissionV2:
    """
    Attributes:
        action (str):
        id (str):
        metadata (PermissionV2Metadata):
        resources (list[str]):
        save (list[str]):
        session_id (str):
        source (CallSource):
    """

    action: str
    id: str
    metadata: PermissionV2Metadata
    resources: list[str]
    save: list[str]
    session_id: str
    source: CallSource
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        id = self.id

        metadata = self.metadata.to_dict()

        resources = self.resources

        save = self.save

        session_id = self.session_id

        source = self.source.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "id": id,
                "metadata": metadata,
                "resources": resources,
                "save": save,
                "sessionID": session_id,
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.call_source import CallSource
        from ..models.permission_v2_metadata import PermissionV2Metadata

        d = dict(src_dict)
        action = d.pop("action")

        id = d.pop("id")

        metadata = PermissionV2Metadata.from_dict(d.pop("metadata"))

        resources = cast(list[str], d.pop("resources"))

        save = cast(list[str], d.pop("save"))

        session_id = d.pop("sessionID")

        source = CallSource.from_dict(d.pop("source"))

        permission_v2 = cls(
            action=action,
            id=id,
            metadata=metadata,
            resources=resources,
            save=save,
            session_id=session_id,
            source=source,
        )

        permission_v2.additional_properties = d
        return permission_v2

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
