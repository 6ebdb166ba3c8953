from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="BudgetStanding")


@_attrs_define
class BudgetStanding:
    """Units: USD; `percent` is 0 to 100.

    Attributes:
        left (float):
        limit (float):
        percent (int):
        reached (bool):
    """

    left: float
    limit: float
    percent: int
    reached: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        left = self.left

        limit = self.limit

        percent = self.percent

        reached = self.reached

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "left": left,
                "limit": limit,
                "percent": percent,
                "reached": reached,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        left = d.pop("left")

        limit = d.pop("limit")

        percent = d.pop("percent")

        reached = d.pop("reached")

        budget_standing = cls(
            left=left,
            limit=limit,
            percent=percent,
            reached=reached,
        )

        budget_standing.additional_properties = d
        return budget_standing

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
