from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.budget_standing import BudgetStanding
    from ..models.member_budget import MemberBudget


T = TypeVar("T", bound="Budgets")


@_attrs_define
class Budgets:
    """`month` is "2026-11", `until` its end in milliseconds since the epoch. Units: USD.

    Attributes:
        allow_unpriced (bool):
        members (list[MemberBudget]):
        month (str):
        spent (float):
        until (int):
        each (float | Unset):
        session (float | Unset):
        team (BudgetStanding | Unset): Units: USD; `percent` is 0 to 100.
    """

    allow_unpriced: bool
    members: list[MemberBudget]
    month: str
    spent: float
    until: int
    each: float | Unset = UNSET
    session: float | Unset = UNSET
    team: BudgetStanding | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        allow_unpriced = self.allow_unpriced

        members = []
        for members_item_data in self.members:
            members_item = members_item_data.to_dict()
            members.append(members_item)

        month = self.month

        spent = self.spent

        until = self.until

        each = self.each

        session = self.session

        team: dict[str, Any] | Unset = UNSET
        if not isinstance(self.team, Unset):
            team = self.team.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "allowUnpriced": allow_unpriced,
                "members": members,
                "month": month,
                "spent": spent,
                "until": until,
            }
        )
        if each is not UNSET:
            field_dict["each"] = each
        if session is not UNSET:
            field_dict["session"] = session
        if team is not UNSET:
            field_dict["team"] = team

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.budget_standing import BudgetStanding
        from ..models.member_budget import MemberBudget

        d = dict(src_dict)
        allow_unpriced = d.pop("allowUnpriced")

        members = []
        _members = d.pop("members")
        for members_item_data in _members:
            members_item = MemberBudget.from_dict(members_item_data)

            members.append(members_item)

        month = d.pop("month")

        spent = d.pop("spent")

        until = d.pop("until")

        each = d.pop("each", UNSET)

        session = d.pop("session", UNSET)

        _team = d.pop("team", UNSET)
        team: BudgetStanding | Unset
        if isinstance(_team, Unset):
            team = UNSET
        else:
            team = BudgetStanding.from_dict(_team)

        budgets = cls(
            allow_unpriced=allow_unpriced,
            members=members,
            month=month,
            spent=spent,
            until=until,
            each=each,
            session=session,
            team=team,
        )

        budgets.additional_properties = d
        return budgets

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
