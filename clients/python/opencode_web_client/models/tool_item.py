from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.tool_item_parameters import ToolItemParameters


T = TypeVar("T", bound="ToolItem")


@_attrs_define
class ToolItem:
    """
    Attributes:
        description (str):
        id (str):
        parameters (ToolItemParameters):
    """

    description: str
    id: str
    parameters: ToolItemParameters
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        id = self.id

        parameters = self.parameters.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "description": description,
                "id": id,
                "parameters": parameters,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tool_item_parameters import ToolItemParameters

        d = dict(src_dict)
        description = d.pop("description")

        id = d.pop("id")

        parameters = ToolItemParameters.from_dict(d.pop("parameters"))

        tool_item = cls(
            description=description,
            id=id,
            parameters=parameters,
        )

        tool_item.additional_properties = d
        return tool_item

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
