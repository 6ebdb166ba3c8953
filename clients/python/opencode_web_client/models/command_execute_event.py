from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.execute_command import ExecuteCommand


T = TypeVar("T", bound="CommandExecuteEvent")


@_attrs_define
class CommandExecuteEvent:
    """
    Attributes:
        properties (ExecuteCommand): A command of the terminal's own, such as `session.new` or `agent.cycle`.
        type_ (Literal['tui.command.execute']):
    """

    properties: ExecuteCommand
    type_: Literal["tui.command.execute"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        properties = self.properties.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "properties": properties,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.execute_command import ExecuteCommand

        d = dict(src_dict)
        properties = ExecuteCommand.from_dict(d.pop("properties"))

        type_ = cast(Literal["tui.command.execute"], d.pop("type"))
        if type_ != "tui.command.execute":
            raise ValueError(
                f"type must match const 'tui.command.execute', got '{type_}'"
            )

        command_execute_event = cls(
            properties=properties,
            type_=type_,
        )

        command_execute_event.additional_properties = d
        return command_execute_event

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
