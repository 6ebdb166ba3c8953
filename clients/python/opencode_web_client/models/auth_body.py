from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.auth_body_type import AuthBodyType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.auth_body_metadata_type_0 import AuthBodyMetadataType0


T = TypeVar("T", bound="AuthBody")


@_attrs_define
class AuthBody:
    """A key. Sign-ins of one person do not belong to a team, so they are not taken.

    Attributes:
        type_ (AuthBodyType):
        key (str | Unset):  Default: ''.
        metadata (AuthBodyMetadataType0 | None | Unset):
    """

    type_: AuthBodyType
    key: str | Unset = ""
    metadata: AuthBodyMetadataType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.auth_body_metadata_type_0 import AuthBodyMetadataType0

        type_ = self.type_.value

        key = self.key

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, AuthBodyMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
            }
        )
        if key is not UNSET:
            field_dict["key"] = key
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.auth_body_metadata_type_0 import AuthBodyMetadataType0

        d = dict(src_dict)
        type_ = AuthBodyType(d.pop("type"))

        key = d.pop("key", UNSET)

        def _parse_metadata(data: object) -> AuthBodyMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = AuthBodyMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AuthBodyMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        auth_body = cls(
            type_=type_,
            key=key,
            metadata=metadata,
        )

        auth_body.additional_properties = d
        return auth_body

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
