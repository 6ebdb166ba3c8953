from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.cache_tokens import CacheTokens


T = TypeVar("T", bound="Tokens")


@_attrs_define
class Tokens:
    """Units: tokens. `input` excludes the cache, `output` excludes reasoning.

    Attributes:
        cache (CacheTokens | Unset):
        input_ (int | Unset):  Default: 0.
        output (int | Unset):  Default: 0.
        reasoning (int | Unset):  Default: 0.
        total (int | Unset):
    """

    cache: CacheTokens | Unset = UNSET
    input_: int | Unset = 0
    output: int | Unset = 0
    reasoning: int | Unset = 0
    total: int | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        cache: dict[str, Any] | Unset = UNSET
        if not isinstance(self.cache, Unset):
            cache = self.cache.to_dict()

        input_ = self.input_

        output = self.output

        reasoning = self.reasoning

        total = self.total

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if cache is not UNSET:
            field_dict["cache"] = cache
        if input_ is not UNSET:
            field_dict["input"] = input_
        if output is not UNSET:
            field_dict["output"] = output
        if reasoning is not UNSET:
            field_dict["reasoning"] = reasoning
        if total is not UNSET:
            field_dict["total"] = total

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.cache_tokens import CacheTokens

        d = dict(src_dict)
        _cache = d.pop("cache", UNSET)
        cache: CacheTokens | Unset
        if isinstance(_cache, Unset):
            cache = UNSET
        else:
            cache = CacheTokens.from_dict(_cache)

        input_ = d.pop("input", UNSET)

        output = d.pop("output", UNSET)

        reasoning = d.pop("reasoning", UNSET)

        total = d.pop("total", UNSET)

        tokens = cls(
            cache=cache,
            input_=input_,
            output=output,
            reasoning=reasoning,
            total=total,
        )

        return tokens
