from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.auth_prompt_type import AuthPromptType

T = TypeVar("T", bound="AuthPrompt")


@_attrs_define
class AuthPrompt:
    """
    Attributes:
        key (str):
        message (str):
        type_ (AuthPromptType):
    """

    key: str
    message: str
    type_: AuthPromptType
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        message = self.message

        type_ = self.type_.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "message": message,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        key = d.pop("key")

        message = d.pop("message")

        type_ = AuthPromptType(d.pop("type"))

        auth_prompt = cls(
            key=key,
            message=message,
            type_=type_,
        )

        auth_prompt.additional_properties = d
        return auth_prompt

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
