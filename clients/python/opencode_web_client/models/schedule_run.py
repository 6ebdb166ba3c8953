from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.schedule_run_state import ScheduleRunState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.run_times import RunTimes


T = TypeVar("T", bound="ScheduleRun")


@_attrs_define
class ScheduleRun:
    """
    Attributes:
        detail (str):
        id (str):
        schedule_id (str):
        state (ScheduleRunState):
        time (RunTimes): Units: milliseconds since the epoch.
        session_id (str | Unset):
    """

    detail: str
    id: str
    schedule_id: str
    state: ScheduleRunState
    time: RunTimes
    session_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        detail = self.detail

        id = self.id

        schedule_id = self.schedule_id

        state = self.state.value

        time = self.time.to_dict()

        session_id = self.session_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "detail": detail,
                "id": id,
                "scheduleID": schedule_id,
                "state": state,
                "time": time,
            }
        )
        if session_id is not UNSET:
            field_dict["sessionID"] = session_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.run_times import RunTimes

        d = dict(src_dict)
        detail = d.pop("detail")

        id = d.pop("id")

        schedule_id = d.pop("scheduleID")

        state = ScheduleRunState(d.pop("state"))

        time = RunTimes.from_dict(d.pop("time"))

        session_id = d.pop("sessionID", UNSET)

        schedule_run = cls(
            detail=detail,
            id=id,
            schedule_id=schedule_id,
            state=state,
            time=time,
            session_id=session_id,
        )

        schedule_run.additional_properties = d
        return schedule_run

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
