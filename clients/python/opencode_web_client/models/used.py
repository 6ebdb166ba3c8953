from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.used_tokens import UsedTokens


T = TypeVar("T", bound="Used")


@_attrs_define
class Used:
    """Units: USD. `bound` is the part of the cost that is only an upper bound, for calls that ended
    early.

    `unpriced` counts calls of models whose price is not known: they are not in the cost, which is
    null where it has no others.

        Attributes:
            bound (float):
            calls (int):
            cost (float):
            tokens (UsedTokens):
            turns (int):
            unpriced (int):
    """

    bound: float
    calls: int
    cost: float
    tokens: UsedTokens
    turns: int
    unpriced: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bound = self.bound

        calls = self.calls

        cost = self.cost

        tokens = self.tokens.to_dict()

        turns = self.turns

        unpriced = self.unpriced

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bound": bound,
                "calls": calls,
                "cost": cost,
                "tokens": tokens,
                "turns": turns,
                "unpriced": unpriced,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.used_tokens import UsedTokens

        d = dict(src_dict)
        bound = d.pop("bound")

        calls = d.pop("calls")

        cost = d.pop("cost")

        tokens = UsedTokens.from_dict(d.pop("tokens"))

        turns = d.pop("turns")

        unpriced = d.pop("unpriced")

        used = cls(
            bound=bound,
            calls=calls,
            cost=cost,
            tokens=tokens,
            turns=turns,
            unpriced=unpriced,
        )

        used.additional_properties = d
        return used

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
