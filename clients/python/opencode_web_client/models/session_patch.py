from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.permission_rule import PermissionRule
    from ..models.session_patch_metadata_type_0 import SessionPatchMetadataType0
    from ..models.session_time import SessionTime


T = TypeVar("T", bound="SessionPatch")


@_attrs_define
class SessionPatch:
    """Only what is given changes.

    Attributes:
        metadata (None | SessionPatchMetadataType0 | Unset):
        permission (list[PermissionRule] | None | Unset):
        time (SessionTime | Unset): Units: milliseconds since the epoch; 0 brings an archived session back.
        title (None | str | Unset):
    """

    metadata: None | SessionPatchMetadataType0 | Unset = UNSET
    permission: list[PermissionRule] | None | Unset = UNSET
    time: SessionTime | Unset = UNSET
    title: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.session_patch_metadata_type_0 import SessionPatchMetadataType0

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, SessionPatchMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        permission: list[dict[str, Any]] | None | Unset
        if isinstance(self.permission, Unset):
            permission = UNSET
        elif isinstance(self.permission, list):
            permission = []
            for permission_type_0_item_data in self.permission:
                permission_type_0_item = permission_type_0_item_data.to_dict()
                permission.append(permission_type_0_item)

        else:
            permission = self.permission

        time: dict[str, Any] | Unset = UNSET
        if not isinstance(self.time, Unset):
            time = self.time.to_dict()

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if permission is not UNSET:
            field_dict["permission"] = permission
        if time is not UNSET:
            field_dict["time"] = time
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.permission_rule import PermissionRule
        from ..models.session_patch_metadata_type_0 import SessionPatchMetadataType0
        from ..models.session_time import SessionTime

        d = dict(src_dict)

        def _parse_metadata(data: object) -> None | SessionPatchMetadataType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = SessionPatchMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SessionPatchMetadataType0 | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_permission(data: object) -> list[PermissionRule] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                permission_type_0 = []
                _permission_type_0 = data
                for permission_type_0_item_data in _permission_type_0:
                    permission_type_0_item = PermissionRule.from_dict(
                        permission_type_0_item_data
                    )

                    permission_type_0.append(permission_type_0_item)

                return permission_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[PermissionRule] | None | Unset, data)

        permission = _parse_permission(d.pop("permission", UNSET))

        _time = d.pop("time", UNSET)
        time: SessionTime | Unset
        if isinstance(_time, Unset):
            time = UNSET
        else:
            time = SessionTime.from_dict(_time)

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        session_patch = cls(
            metadata=metadata,
            permission=permission,
            time=time,
            title=title,
        )

        session_patch.additional_properties = d
        return session_patch

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
