from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.budget_standing import BudgetStanding


T = TypeVar("T", bound="MemberBudget")


@_attrs_define
class MemberBudget:
    """`own`: the budget is the member's own and not that of each. Units: USD.

    Attributes:
        email (str):
        name (str):
        own (bool):
        spent (float):
        user_id (int):
        budget (BudgetStanding | Unset): Units: USD; `percent` is 0 to 100.
    """

    email: str
    name: str
    own: bool
    spent: float
    user_id: int
    budget: BudgetStanding | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        email = self.email

        name = self.name

        own = self.own

        spent = self.spent

        user_id = self.user_id

        budget: dict[str, Any] | Unset = UNSET
        if not isinstance(self.budget, Unset):
            budget = self.budget.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "email": email,
                "name": name,
                "own": own,
                "spent": spent,
                "userID": user_id,
            }
        )
        if budget is not UNSET:
            field_dict["budget"] = budget

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.budget_standing import BudgetStanding

        d = dict(src_dict)
        email = d.pop("email")

        name = d.pop("name")

        own = d.pop("own")

        spent = d.pop("spent")

        user_id = d.pop("userID")

        _budget = d.pop("budget", UNSET)
        budget: BudgetStanding | Unset
        if isinstance(_budget, Unset):
            budget = UNSET
        else:
            budget = BudgetStanding.from_dict(_budget)

        member_budget = cls(
            email=email,
            name=name,
            own=own,
            spent=spent,
            user_id=user_id,
            budget=budget,
        )

        member_budget.additional_properties = d
        return member_budget

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
