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
    """A key, or the tokens of a sign-in that the client has been through itself.

    Attributes:
        type_ (AuthBodyType):
        access (str | Unset):  Default: ''.
        account_id (str | Unset):  Default: ''.
        enterprise_url (str | Unset):  Default: ''.
        expires (float | Unset):  Default: 0.0.
        key (str | Unset):  Default: ''.
        metadata (AuthBodyMetadataType0 | None | Unset):
        refresh (str | Unset):  Default: ''.
    """

    type_: AuthBodyType
    access: str | Unset = ""
    account_id: str | Unset = ""
    enterprise_url: str | Unset = ""
    expires: float | Unset = 0.0
    key: str | Unset = ""
    metadata: AuthBodyMetadataType0 | None | Unset = UNSET
    refresh: str | Unset = ""
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.auth_body_metadata_type_0 import AuthBodyMetadataType0

        type_ = self.type_.value

        access = self.access

        account_id = self.account_id

        enterprise_url = self.enterprise_url

        expires = self.expires

        key = self.key

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, AuthBodyMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        refresh = self.refresh

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
            }
        )
        if access is not UNSET:
            field_dict["access"] = access
        if account_id is not UNSET:
            field_dict["accountId"] = account_id
        if enterprise_url is not UNSET:
            field_dict["enterpriseUrl"] = enterprise_url
        if expires is not UNSET:
            field_dict["expires"] = expires
        if key is not UNSET:
            field_dict["key"] = key
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if refresh is not UNSET:
            field_dict["refresh"] = refresh

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.auth_body_metadata_type_0 import AuthBodyMetadataType0

        d = dict(src_dict)
        type_ = AuthBodyType(d.pop("type"))

        access = d.pop("access", UNSET)

        account_id = d.pop("accountId", UNSET)

        enterprise_url = d.pop("enterpriseUrl", UNSET)

        expires = d.pop("expires", UNSET)

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

        refresh = d.pop("refresh", UNSET)

        auth_body = cls(
            type_=type_,
            access=access,
            account_id=account_id,
            enterprise_url=enterprise_url,
            expires=expires,
            key=key,
            metadata=metadata,
            refresh=refresh,
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
