from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.prompt_when import PromptWhen


T = TypeVar("T", bound="TextPrompt")


@_attrs_define
class TextPrompt:
    """
    Attributes:
        key (str):
        message (str):
        type_ (Literal['text']):
        placeholder (str | Unset):
        when (PromptWhen | Unset):
    """

    key: str
    message: str
    type_: Literal["text"]
    placeholder: str | Unset = UNSET
    when: PromptWhen | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        message = self.message

        type_ = self.type_

        placeholder = self.placeholder

        when: dict[str, Any] | Unset = UNSET
        if not isinstance(self.when, Unset):
            when = self.when.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "key": key,
                "message": message,
                "type": type_,
            }
        )
        if placeholder is not UNSET:
            field_dict["placeholder"] = placeholder
        if when is not UNSET:
            field_dict["when"] = when

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prompt_when import PromptWhen

        d = dict(src_dict)
        key = d.pop("key")

        message = d.pop("message")

        type_ = cast(Literal["text"], d.pop("type"))
        if type_ != "text":
            raise ValueError(f"type must match const 'text', got '{type_}'")

        placeholder = d.pop("placeholder", UNSET)

        _when = d.pop("when", UNSET)
        when: PromptWhen | Unset
        if isinstance(_when, Unset):
            when = UNSET
        else:
            when = PromptWhen.from_dict(_when)

        text_prompt = cls(
            key=key,
            message=message,
            type_=type_,
            placeholder=placeholder,
            when=when,
        )

        text_prompt.additional_properties = d
        return text_prompt

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
