from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.schedule_times import ScheduleTimes


T = TypeVar("T", bound="Schedule")


@_attrs_define
class Schedule:
    """
    Attributes:
        agent (str):
        cron (str):
        failures (int):
        id (str):
        model (str):
        name (str):
        paused (bool):
        paused_reason (str):
        project_id (str):
        prompt (str):
        time (ScheduleTimes):
        timezone (str):
        author (str | Unset):
    """

    agent: str
    cron: str
    failures: int
    id: str
    model: str
    name: str
    paused: bool
    paused_reason: str
    project_id: str
    prompt: str
    time: ScheduleTimes
    timezone: str
    author: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        cron = self.cron

        failures = self.failures

        id = self.id

        model = self.model

        name = self.name

        paused = self.paused

        paused_reason = self.paused_reason

        project_id = self.project_id

        prompt = self.prompt

        time = self.time.to_dict()

        timezone = self.timezone

        author = self.author

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent": agent,
                "cron": cron,
                "failures": failures,
                "id": id,
                "model": model,
                "name": name,
                "paused": paused,
                "pausedReason": paused_reason,
                "projectID": project_id,
                "prompt": prompt,
                "time": time,
                "timezone": timezone,
            }
        )
        if author is not UNSET:
            field_dict["author"] = author

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.schedule_times import ScheduleTimes

        d = dict(src_dict)
        agent = d.pop("agent")

        cron = d.pop("cron")

        failures = d.pop("failures")

        id = d.pop("id")

        model = d.pop("model")

        name = d.pop("name")

        paused = d.pop("paused")

        paused_reason = d.pop("pausedReason")

        project_id = d.pop("projectID")

        prompt = d.pop("prompt")

        time = ScheduleTimes.from_dict(d.pop("time"))

        timezone = d.pop("timezone")

        author = d.pop("author", UNSET)

        schedule = cls(
            agent=agent,
            cron=cron,
            failures=failures,
            id=id,
            model=model,
            name=name,
            paused=paused,
            paused_reason=paused_reason,
            project_id=project_id,
            prompt=prompt,
            time=time,
            timezone=timezone,
            author=author,
        )

        schedule.additional_properties = d
        return schedule

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
