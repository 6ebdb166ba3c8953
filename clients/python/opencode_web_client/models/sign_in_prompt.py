from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.sign_in_prompt_type import SignInPromptType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.prompt_option import PromptOption
    from ..models.prompt_when import PromptWhen


T = TypeVar("T", bound="SignInPrompt")


@_attrs_define
class SignInPrompt:
    """
    Attributes:
        key (str):
        message (str):
        type_ (SignInPromptType):
        options (list[PromptOption] | Unset):
        placeholder (str | Unset):
        when (PromptWhen | Unset):
    """

    key: str
    message: str
    type_: SignInPromptType
    options: list[PromptOption] | Unset = UNSET
    placeholder: str | Unset = UNSET
    when: PromptWhen | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        message = self.message

        type_ = self.type_.value

        options: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.options, Unset):
            options = []
            for options_item_data in self.options:
                options_item = options_item_data.to_dict()
                options.append(options_item)

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
        if options is not UNSET:
            field_dict["options"] = options
        if placeholder is not UNSET:
            field_dict["placeholder"] = placeholder
        if when is not UNSET:
            field_dict["when"] = when

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prompt_option import PromptOption
        from ..models.prompt_when import PromptWhen

        d = dict(src_dict)
        key = d.pop("key")

        message = d.pop("message")

        type_ = SignInPromptType(d.pop("type"))

        _options = d.pop("options", UNSET)
        options: list[PromptOption] | Unset = UNSET
        if _options is not UNSET:
            options = []
            for options_item_data in _options:
                options_item = PromptOption.from_dict(options_item_data)

                options.append(options_item)

        placeholder = d.pop("placeholder", UNSET)

        _when = d.pop("when", UNSET)
        when: PromptWhen | Unset
        if isinstance(_when, Unset):
            when = UNSET
        else:
            when = PromptWhen.from_dict(_when)

        sign_in_prompt = cls(
            key=key,
            message=message,
            type_=type_,
            options=options,
            placeholder=placeholder,
            when=when,
        )

        sign_in_prompt.additional_properties = d
        return sign_in_prompt

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
