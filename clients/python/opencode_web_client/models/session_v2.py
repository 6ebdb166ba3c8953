from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.session_v2_location import SessionV2Location
    from ..models.session_v2_time import SessionV2Time


T = TypeVar("T", bound="SessionV2")


@_attrs_define
class SessionV2:
    """
    Attributes:
        cost (float):
        id (str):
        location (SessionV2Location):
        project_id (str):
        time (SessionV2Time):
        title (str):
    """

    cost: float
    id: str
    location: SessionV2Location
    project_id: str
    time: SessionV2Time
    title: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cost = self.cost

        id = self.id

        location = self.location.to_dict()

        project_id = self.project_id

        time = self.time.to_dict()

        title = self.title

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cost": cost,
                "id": id,
                "location": location,
                "projectID": project_id,
                "time": time,
                "title": title,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.session_v2_location import SessionV2Location
        from ..models.session_v2_time import SessionV2Time

        d = dict(src_dict)
        cost = d.pop("cost")

        id = d.pop("id")

        location = SessionV2Location.from_dict(d.pop("location"))

        project_id = d.pop("projectID")

        time = SessionV2Time.from_dict(d.pop("time"))

        title = d.pop("title")

        session_v2 = cls(
            cost=cost,
            id=id,
            location=location,
            project_id=project_id,
            time=time,
            title=title,
        )

        session_v2.additional_properties = d
        return session_v2

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
