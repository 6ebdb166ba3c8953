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
    from ..models.select_prompt import SelectPrompt
    from ..models.text_prompt import TextPrompt


T = TypeVar("T", bound="OAuthMethod")


@_attrs_define
class OAuthMethod:
    """
    Attributes:
        id (str):
        label (str):
        type_ (Literal['oauth']):
        prompts (list[SelectPrompt | TextPrompt] | Unset):
    """

    id: str
    label: str
    type_: Literal["oauth"]
    prompts: list[SelectPrompt | TextPrompt] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.text_prompt import TextPrompt

        id = self.id

        label = self.label

        type_ = self.type_

        prompts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.prompts, Unset):
            prompts = []
            for prompts_item_data in self.prompts:
                prompts_item: dict[str, Any]
                if isinstance(prompts_item_data, TextPrompt):
                    prompts_item = prompts_item_data.to_dict()
                else:
                    prompts_item = prompts_item_data.to_dict()

                prompts.append(prompts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "label": label,
                "type": type_,
            }
        )
        if prompts is not UNSET:
            field_dict["prompts"] = prompts

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.select_prompt import SelectPrompt
        from ..models.text_prompt import TextPrompt

        d = dict(src_dict)
        id = d.pop("id")

        label = d.pop("label")

        type_ = cast(Literal["oauth"], d.pop("type"))
        if type_ != "oauth":
            raise ValueError(f"type must match const 'oauth', got '{type_}'")

        _prompts = d.pop("prompts", UNSET)
        prompts: list[SelectPrompt | TextPrompt] | Unset = UNSET
        if _prompts is not UNSET:
            prompts = []
            for prompts_item_data in _prompts:

                def _parse_prompts_item(data: object) -> SelectPrompt | TextPrompt:
                    try:
                        if not isinstance(data, dict):
                            raise TypeError()
                        prompts_item_type_0 = TextPrompt.from_dict(data)

                        return prompts_item_type_0
                    except (TypeError, ValueError, AttributeError, KeyError):
                        pass
                    if not isinstance(data, dict):
                        raise TypeError()
                    prompts_item_type_1 = SelectPrompt.from_dict(data)

                    return prompts_item_type_1

                prompts_item = _parse_prompts_item(prompts_item_data)

                prompts.append(prompts_item)

        o_auth_method = cls(
            id=id,
            label=label,
            type_=type_,
            prompts=prompts,
        )

        o_auth_method.additional_properties = d
        return o_auth_method

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
