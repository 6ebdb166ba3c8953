from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.used import Used
    from ..models.used_by_member import UsedByMember
    from ..models.used_by_model import UsedByModel
    from ..models.used_by_project import UsedByProject
    from ..models.used_on_day import UsedOnDay


T = TypeVar("T", bound="Usage")


@_attrs_define
class Usage:
    """`before` is the sum of as many days just before; `team` is told to who gets their own.

    Attributes:
        before (Used): Units: USD. `bound` is the part of the cost that is only an upper bound, for calls that ended
            early.

            `unpriced` counts calls of models whose price is not known: they are not in the cost, which is
            null where it has no others.
        days (list[UsedOnDay]):
        members (list[UsedByMember]):
        models (list[UsedByModel]):
        projects (list[UsedByProject]):
        since (str):
        total (Used): Units: USD. `bound` is the part of the cost that is only an upper bound, for calls that ended
            early.

            `unpriced` counts calls of models whose price is not known: they are not in the cost, which is
            null where it has no others.
        until (str):
        team (Used | Unset): Units: USD. `bound` is the part of the cost that is only an upper bound, for calls that
            ended
            early.

            `unpriced` counts calls of models whose price is not known: they are not in the cost, which is
            null where it has no others.
    """

    before: Used
    days: list[UsedOnDay]
    members: list[UsedByMember]
    models: list[UsedByModel]
    projects: list[UsedByProject]
    since: str
    total: Used
    until: str
    team: Used | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        before = self.before.to_dict()

        days = []
        for days_item_data in self.days:
            days_item = days_item_data.to_dict()
            days.append(days_item)

        members = []
        for members_item_data in self.members:
            members_item = members_item_data.to_dict()
            members.append(members_item)

        models = []
        for models_item_data in self.models:
            models_item = models_item_data.to_dict()
            models.append(models_item)

        projects = []
        for projects_item_data in self.projects:
            projects_item = projects_item_data.to_dict()
            projects.append(projects_item)

        since = self.since

        total = self.total.to_dict()

        until = self.until

        team: dict[str, Any] | Unset = UNSET
        if not isinstance(self.team, Unset):
            team = self.team.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "before": before,
                "days": days,
                "members": members,
                "models": models,
                "projects": projects,
                "since": since,
                "total": total,
                "until": until,
            }
        )
        if team is not UNSET:
            field_dict["team"] = team

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.used import Used
        from ..models.used_by_member import UsedByMember
        from ..models.used_by_model import UsedByModel
        from ..models.used_by_project import UsedByProject
        from ..models.used_on_day import UsedOnDay

        d = dict(src_dict)
        before = Used.from_dict(d.pop("before"))

        days = []
        _days = d.pop("days")
        for days_item_data in _days:
            days_item = UsedOnDay.from_dict(days_item_data)

            days.append(days_item)

        members = []
        _members = d.pop("members")
        for members_item_data in _members:
            members_item = UsedByMember.from_dict(members_item_data)

            members.append(members_item)

        models = []
        _models = d.pop("models")
        for models_item_data in _models:
            models_item = UsedByModel.from_dict(models_item_data)

            models.append(models_item)

        projects = []
        _projects = d.pop("projects")
        for projects_item_data in _projects:
            projects_item = UsedByProject.from_dict(projects_item_data)

            projects.append(projects_item)

        since = d.pop("since")

        total = Used.from_dict(d.pop("total"))

        until = d.pop("until")

        _team = d.pop("team", UNSET)
        team: Used | Unset
        if isinstance(_team, Unset):
            team = UNSET
        else:
            team = Used.from_dict(_team)

        usage = cls(
            before=before,
            days=days,
            members=members,
            models=models,
            projects=projects,
            since=since,
            total=total,
            until=until,
            team=team,
        )

        usage.additional_properties = d
        return usage

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
