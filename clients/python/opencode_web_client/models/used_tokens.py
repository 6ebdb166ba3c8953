from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.used_cache import UsedCache


T = TypeVar("T", bound="UsedTokens")


@_attrs_define
class UsedTokens:
    """
    Attributes:
        cache (UsedCache):
        input_ (int):
        output (int):
        reasoning (int):
    """

    cache: UsedCache
    input_: int
    output: int
    reasoning: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cache = self.cache.to_dict()

        input_ = self.input_

        output = self.output

        reasoning = self.reasoning

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cache": cache,
                "input": input_,
                "output": output,
                "reasoning": reasoning,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.used_cache import UsedCache

        d = dict(src_dict)
        cache = UsedCache.from_dict(d.pop("cache"))

        input_ = d.pop("input")

        output = d.pop("output")

        reasoning = d.pop("reasoning")

        used_tokens = cls(
            cache=cache,
            input_=input_,
            output=output,
            reasoning=reasoning,
        )

        used_tokens.additional_properties = d
        return used_tokens

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
