from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.cache_tokens_v2 import CacheTokensV2


T = TypeVar("T", bound="TokensV2")


@_attrs_define
class TokensV2:
    """
    Attributes:
        cache (CacheTokensV2):
        input_ (int):
        output (int):
        reasoning (int):
    """

    cache: CacheTokensV2
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
        from ..models.cache_tokens_v2 import CacheTokensV2

        d = dict(src_dict)
        cache = CacheTokensV2.from_dict(d.pop("cache"))

        input_ = d.pop("input")

        output = d.pop("output")

        reasoning = d.pop("reasoning")

        tokens_v2 = cls(
            cache=cache,
            input_=input_,
            output=output,
            reasoning=reasoning,
        )

        tokens_v2.additional_properties = d
        return tokens_v2

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
