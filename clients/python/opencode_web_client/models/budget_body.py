from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.budget_of_member import BudgetOfMember


T = TypeVar("T", bound="BudgetBody")


@_attrs_define
class BudgetBody:
    """USD for a calendar month of UTC; what is not given is no budget.

    Members that are not named keep theirs. `session` is what one may cost before an admin is asked:
    it stays when it is not given, and null takes it away. `allowUnpriced`: whether models whose
    price is not known may be used although a budget is set; it stays when it is not given.

        Attributes:
            allow_unpriced (bool | None | Unset):
            each (float | None | str | Unset):
            members (list[BudgetOfMember] | Unset):
            session (float | None | str | Unset):
            team (float | None | str | Unset):
    """

    allow_unpriced: bool | None | Unset = UNSET
    each: float | None | str | Unset = UNSET
    members: list[BudgetOfMember] | Unset = UNSET
    session: float | None | str | Unset = UNSET
    team: float | None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        allow_unpriced: bool | None | Unset
        if isinstance(self.allow_unpriced, Unset):
            allow_unpriced = UNSET
        else:
            allow_unpriced = self.allow_unpriced

        each: float | None | str | Unset
        if isinstance(self.each, Unset):
            each = UNSET
        else:
            each = self.each

        members: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.members, Unset):
            members = []
            for members_item_data in self.members:
                members_item = members_item_data.to_dict()
                members.append(members_item)

        session: float | None | str | Unset
        if isinstance(self.session, Unset):
            session = UNSET
        else:
            session = self.session

        team: float | None | str | Unset
        if isinstance(self.team, Unset):
            team = UNSET
        else:
            team = self.team

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if allow_unpriced is not UNSET:
            field_dict["allowUnpriced"] = allow_unpriced
        if each is not UNSET:
            field_dict["each"] = each
        if members is not UNSET:
            field_dict["members"] = members
        if session is not UNSET:
            field_dict["session"] = session
        if team is not UNSET:
            field_dict["team"] = team

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.budget_of_member import BudgetOfMember

        d = dict(src_dict)

        def _parse_allow_unpriced(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        allow_unpriced = _parse_allow_unpriced(d.pop("allowUnpriced", UNSET))

        def _parse_each(data: object) -> float | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | str | Unset, data)

        each = _parse_each(d.pop("each", UNSET))

        _members = d.pop("members", UNSET)
        members: list[BudgetOfMember] | Unset = UNSET
        if _members is not UNSET:
            members = []
            for members_item_data in _members:
                members_item = BudgetOfMember.from_dict(members_item_data)

                members.append(members_item)

        def _parse_session(data: object) -> float | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | str | Unset, data)

        session = _parse_session(d.pop("session", UNSET))

        def _parse_team(data: object) -> float | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | str | Unset, data)

        team = _parse_team(d.pop("team", UNSET))

        budget_body = cls(
            allow_unpriced=allow_unpriced,
            each=each,
            members=members,
            session=session,
            team=team,
        )

        budget_body.additional_properties = d
        return budget_body

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
