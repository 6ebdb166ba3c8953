from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.agent_v2_mode import AgentV2Mode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.agent_rule import AgentRule
    from ..models.extra_of_request import ExtraOfRequest
    from ..models.model_name import ModelName


T = TypeVar("T", bound="AgentV2")


@_attrs_define
class AgentV2:
    """
    Attributes:
        hidden (bool):
        id (str):
        mode (AgentV2Mode):
        permissions (list[AgentRule]):
        request (ExtraOfRequest):
        color (str | Unset):
        description (str | Unset):
        model (ModelName | Unset):
        steps (int | Unset):
        system (str | Unset):
    """

    hidden: bool
    id: str
    mode: AgentV2Mode
    permissions: list[AgentRule]
    request: ExtraOfRequest
    color: str | Unset = UNSET
    description: str | Unset = UNSET
    model: ModelName | Unset = UNSET
    steps: int | Unset = UNSET
    system: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hidden = self.hidden

        id = self.id

        mode = self.mode.value

        permissions = []
        for permissions_item_data in self.permissions:
            permissions_item = permissions_item_data.to_dict()
            permissions.append(permissions_item)

        request = self.request.to_dict()

        color = self.color

        description = self.description

        model: dict[str, Any] | Unset = UNSET
        if not isinstance(self.model, Unset):
            model = self.model.to_dict()

        steps = self.steps

        system = self.system

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hidden": hidden,
                "id": id,
                "mode": mode,
                "permissions": permissions,
                "request": request,
            }
        )
        if color is not UNSET:
            field_dict["color"] = color
        if description is not UNSET:
            field_dict["description"] = description
        if model is not UNSET:
            field_dict["model"] = model
        if steps is not UNSET:
            field_dict["steps"] = steps
        if system is not UNSET:
            field_dict["system"] = system

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.agent_rule import AgentRule
        from ..models.extra_of_request import ExtraOfRequest
        from ..models.model_name import ModelName

        d = dict(src_dict)
        hidden = d.pop("hidden")

        id = d.pop("id")

        mode = AgentV2Mode(d.pop("mode"))

        permissions = []
        _permissions = d.pop("permissions")
        for permissions_item_data in _permissions:
            permissions_item = AgentRule.from_dict(permissions_item_data)

            permissions.append(permissions_item)

        request = ExtraOfRequest.from_dict(d.pop("request"))

        color = d.pop("color", UNSET)

        description = d.pop("description", UNSET)

        _model = d.pop("model", UNSET)
        model: ModelName | Unset
        if isinstance(_model, Unset):
            model = UNSET
        else:
            model = ModelName.from_dict(_model)

        steps = d.pop("steps", UNSET)

        system = d.pop("system", UNSET)

        agent_v2 = cls(
            hidden=hidden,
            id=id,
            mode=mode,
            permissions=permissions,
            request=request,
            color=color,
            description=description,
            model=model,
            steps=steps,
            system=system,
        )

        agent_v2.additional_properties = d
        return agent_v2

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
