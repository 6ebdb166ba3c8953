from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ScheduleBody")


@_attrs_define
class ScheduleBody:
    """`cron` has five fields, read in `timezone`; `model` is `provider/model`.

    Attributes:
        cron (str):
        name (str):
        prompt (str):
        agent (str | Unset):  Default: ''.
        model (str | Unset):  Default: ''.
        timezone (str | Unset):  Default: 'UTC'.
    """

    cron: str
    name: str
    prompt: str
    agent: str | Unset = ""
    model: str | Unset = ""
    timezone: str | Unset = "UTC"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cron = self.cron

        name = self.name

        prompt = self.prompt

        agent = self.agent

        model = self.model

        timezone = self.timezone

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cron": cron,
                "name": name,
                "prompt": prompt,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if model is not UNSET:
            field_dict["model"] = model
        if timezone is not UNSET:
            field_dict["timezone"] = timezone

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        cron = d.pop("cron")

        name = d.pop("name")

        prompt = d.pop("prompt")

        agent = d.pop("agent", UNSET)

        model = d.pop("model", UNSET)

        timezone = d.pop("timezone", UNSET)

        schedule_body = cls(
            cron=cron,
            name=name,
            prompt=prompt,
            agent=agent,
            model=model,
            timezone=timezone,
        )

        schedule_body.additional_properties = d
        return schedule_body

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
