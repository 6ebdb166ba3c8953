from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.command_source import CommandSource
from ..types import UNSET, Unset

T = TypeVar("T", bound="Command")


@_attrs_define
class Command:
    """
    Attributes:
        hints (list[str]):
        name (str):
        source (CommandSource):
        template (str):
        agent (str | Unset):
        description (str | Unset):
        model (str | Unset):
        subtask (bool | Unset):
    """

    hints: list[str]
    name: str
    source: CommandSource
    template: str
    agent: str | Unset = UNSET
    description: str | Unset = UNSET
    model: str | Unset = UNSET
    subtask: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hints = self.hints

        name = self.name

        source = self.source.value

        template = self.template

        agent = self.agent

        description = self.description

        model = self.model

        subtask = self.subtask

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hints": hints,
                "name": name,
                "source": source,
                "template": template,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if description is not UNSET:
            field_dict["description"] = description
        if model is not UNSET:
            field_dict["model"] = model
        if subtask is not UNSET:
            field_dict["subtask"] = subtask

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        hints = cast(list[str], d.pop("hints"))

        name = d.pop("name")

        source = CommandSource(d.pop("source"))

        template = d.pop("template")

        agent = d.pop("agent", UNSET)

        description = d.pop("description", UNSET)

        model = d.pop("model", UNSET)

        subtask = d.pop("subtask", UNSET)

        command = cls(
            hints=hints,
            name=name,
            source=source,
            template=template,
            agent=agent,
            description=description,
            model=model,
            subtask=subtask,
        )

        command.additional_properties = d
        return command

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
