from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.service_account_role import ServiceAccountRole

if TYPE_CHECKING:
    from ..models.service_token import ServiceToken


T = TypeVar("T", bound="ServiceAccount")


@_attrs_define
class ServiceAccount:
    """
    Attributes:
        email (str):
        enabled (bool):
        id (int):
        name (str):
        role (ServiceAccountRole):
        tokens (list[ServiceToken]):
    """

    email: str
    enabled: bool
    id: int
    name: str
    role: ServiceAccountRole
    tokens: list[ServiceToken]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        enabled = self.enabled

        id = self.id

        name = self.name

        role = self.role.value

        tokens = []
        for tokens_item_data in self.tokens:
            tokens_item = tokens_item_data.to_dict()
            tokens.append(tokens_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "email": email,
                "enabled": enabled,
                "id": id,
                "name": name,
                "role": role,
                "tokens": tokens,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.service_token import ServiceToken

        d = dict(src_dict)
        email = d.pop("email")

        enabled = d.pop("enabled")

        id = d.pop("id")

        name = d.pop("name")

        role = ServiceAccountRole(d.pop("role"))

        tokens = []
        _tokens = d.pop("tokens")
        for tokens_item_data in _tokens:
            tokens_item = ServiceToken.from_dict(tokens_item_data)

            tokens.append(tokens_item)

        service_account = cls(
            email=email,
            enabled=enabled,
            id=id,
            name=name,
            role=role,
            tokens=tokens,
        )

        service_account.additional_properties = d
        return service_account

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
