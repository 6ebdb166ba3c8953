from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.agent_mode import AgentMode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.agent_model import AgentModel
    from ..models.agent_options import AgentOptions
    from ..models.permission_rule import PermissionRule


T = TypeVar("T", bound="Agent")


@_attrs_define
class Agent:
    """
    Attributes:
        description (str):
        hidden (bool):
        mode (AgentMode):
        name (str):
        native (bool):
        options (AgentOptions):
        permission (list[PermissionRule]):
        color (str | Unset):
        model (AgentModel | Unset):
        prompt (str | Unset):
        steps (int | Unset):
        temperature (float | Unset):
        top_p (float | Unset):
        variant (str | Unset):
    """

    description: str
    hidden: bool
    mode: AgentMode
    name: str
    native: bool
    options: AgentOptions
    permission: list[PermissionRule]
    color: str | Unset = UNSET
    model: AgentModel | Unset = UNSET
    prompt: str | Unset = UNSET
    steps: int | Unset = UNSET
    temperature: float | Unset = UNSET
    top_p: float | Unset = UNSET
    variant: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        hidden = self.hidden

        mode = self.mode.value

        name = self.name

        native = self.native

        options = self.options.to_dict()

        permission = []
        for permission_item_data in self.permission:
            permission_item = permission_item_data.to_dict()
            permission.append(permission_item)

        color = self.color

        model: dict[str, Any] | Unset = UNSET
        if not isinstance(self.model, Unset):
            model = self.model.to_dict()

        prompt = self.prompt

        steps = self.steps

        temperature = self.temperature

        top_p = self.top_p

        variant = self.variant

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "description": description,
                "hidden": hidden,
                "mode": mode,
                "name": name,
                "native": native,
                "options": options,
                "permission": permission,
            }
        )
        if color is not UNSET:
            field_dict["color"] = color
        if model is not UNSET:
            field_dict["model"] = model
        if prompt is not UNSET:
            field_dict["prompt"] = prompt
        if steps is not UNSET:
            field_dict["steps"] = steps
        if temperature is not UNSET:
            field_dict["temperature"] = temperature
        if top_p is not UNSET:
            field_dict["topP"] = top_p
        if variant is not UNSET:
            field_dict["variant"] = variant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.agent_model import AgentModel
        from ..models.agent_options import AgentOptions
        from ..models.permission_rule import PermissionRule

        d = dict(src_dict)
        description = d.pop("description")

        hidden = d.pop("hidden")

        mode = AgentMode(d.pop("mode"))

        name = d.pop("name")

        native = d.pop("native")

        options = AgentOptions.from_dict(d.pop("options"))

        permission = []
        _permission = d.pop("permission")
        for permission_item_data in _permission:
            permission_item = PermissionRule.from_dict(permission_item_data)

            permission.append(permission_item)

        color = d.pop("color", UNSET)

        _model = d.pop("model", UNSET)
        model: AgentModel | Unset
        if isinstance(_model, Unset):
            model = UNSET
        else:
            model = AgentModel.from_dict(_model)

        prompt = d.pop("prompt", UNSET)

        steps = d.pop("steps", UNSET)

        temperature = d.pop("temperature", UNSET)

        top_p = d.pop("topP", UNSET)

        variant = d.pop("variant", UNSET)

        agent = cls(
            description=description,
            hidden=hidden,
            mode=mode,
            name=name,
            native=native,
            options=options,
            permission=permission,
            color=color,
            model=model,
            prompt=prompt,
            steps=steps,
            temperature=temperature,
            top_p=top_p,
            variant=variant,
        )

        agent.additional_properties = d
        return agent

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
