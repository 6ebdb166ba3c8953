from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.token_body_scope import TokenBodyScope
from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenBody")


@_attrs_define
class TokenBody:
    """Without `days` it never expires.

    Attributes:
        name (str):
        days (int | Unset):  Default: 0.
        scope (TokenBodyScope | Unset):  Default: TokenBodyScope.WRITE.
    """

    name: str
    days: int | Unset = 0
    scope: TokenBodyScope | Unset = TokenBodyScope.WRITE
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        days = self.days

        scope: str | Unset = UNSET
        if not isinstance(self.scope, Unset):
            scope = self.scope.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
            }
        )
        if days is not UNSET:
            field_dict["days"] = days
        if scope is not UNSET:
            field_dict["scope"] = scope

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        days = d.pop("days", UNSET)

        _scope = d.pop("scope", UNSET)
        scope: TokenBodyScope | Unset
        if isinstance(_scope, Unset):
            scope = UNSET
        else:
            scope = TokenBodyScope(_scope)

        token_body = cls(
            name=name,
            days=days,
            scope=scope,
        )

        token_body.additional_properties = d
        return token_body

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
