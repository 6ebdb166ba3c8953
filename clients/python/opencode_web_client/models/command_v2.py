from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.model_name import ModelName


T = TypeVar("T", bound="CommandV2")


@_attrs_define
class CommandV2:
    """
    Attributes:
        name (str):
        template (str):
        agent (str | Unset):
        description (str | Unset):
        model (ModelName | Unset):
        subtask (bool | Unset):
    """

    name: str
    template: str
    agent: str | Unset = UNSET
    description: str | Unset = UNSET
    model: ModelName | Unset = UNSET
    subtask: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        template = self.template

        agent = self.agent

        description = self.description

        model: dict[str, Any] | Unset = UNSET
        if not isinstance(self.model, Unset):
            model = self.model.to_dict()

        subtask = self.subtask

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
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
        from ..models.model_name import ModelName

        d = dict(src_dict)
        name = d.pop("name")

        template = d.pop("template")

        agent = d.pop("agent", UNSET)

        description = d.pop("description", UNSET)

        _model = d.pop("model", UNSET)
        model: ModelName | Unset
        if isinstance(_model, Unset):
            model = UNSET
        else:
            model = ModelName.from_dict(_model)

        subtask = d.pop("subtask", UNSET)

        command_v2 = cls(
            name=name,
            template=template,
            agent=agent,
            description=description,
            model=model,
            subtask=subtask,
        )

        command_v2.additional_properties = d
        return command_v2

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
