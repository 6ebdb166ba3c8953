from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.made_service_token_scope import MadeServiceTokenScope

T = TypeVar("T", bound="MadeServiceToken")


@_attrs_define
class MadeServiceToken:
    """
    Attributes:
        id (str):
        name (str):
        prefix (str):
        scope (MadeServiceTokenScope):
        secret (str):
    """

    id: str
    name: str
    prefix: str
    scope: MadeServiceTokenScope
    secret: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        prefix = self.prefix

        scope = self.scope.value

        secret = self.secret

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "prefix": prefix,
                "scope": scope,
                "secret": secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        prefix = d.pop("prefix")

        scope = MadeServiceTokenScope(d.pop("scope"))

        secret = d.pop("secret")

        made_service_token = cls(
            id=id,
            name=name,
            prefix=prefix,
            scope=scope,
            secret=secret,
        )

        made_service_token.additional_properties = d
        return made_service_token

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
