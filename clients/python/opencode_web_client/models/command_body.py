from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.command_body_delivery import CommandBodyDelivery
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.command_body_parts_item import CommandBodyPartsItem


T = TypeVar("T", bound="CommandBody")


@_attrs_define
class CommandBody:
    """A command, as `/command arguments` says it. `model` is `provider/model`.

    Attributes:
        command (str):
        agent (None | str | Unset):
        arguments (str | Unset):  Default: ''.
        delivery (CommandBodyDelivery | Unset):  Default: CommandBodyDelivery.STEER.
        message_id (None | str | Unset):
        model (None | str | Unset):
        parts (list[CommandBodyPartsItem] | Unset):
        variant (None | str | Unset):
    """

    command: str
    agent: None | str | Unset = UNSET
    arguments: str | Unset = ""
    delivery: CommandBodyDelivery | Unset = CommandBodyDelivery.STEER
    message_id: None | str | Unset = UNSET
    model: None | str | Unset = UNSET
    parts: list[CommandBodyPartsItem] | Unset = UNSET
    variant: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        command = self.command

        agent: None | str | Unset
        if isinstance(self.agent, Unset):
            agent = UNSET
        else:
            agent = self.agent

        arguments = self.arguments

        delivery: str | Unset = UNSET
        if not isinstance(self.delivery, Unset):
            delivery = self.delivery.value

        message_id: None | str | Unset
        if isinstance(self.message_id, Unset):
            message_id = UNSET
        else:
            message_id = self.message_id

        model: None | str | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        else:
            model = self.model

        parts: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.parts, Unset):
            parts = []
            for parts_item_data in self.parts:
                parts_item = parts_item_data.to_dict()
                parts.append(parts_item)

        variant: None | str | Unset
        if isinstance(self.variant, Unset):
            variant = UNSET
        else:
            variant = self.variant

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "command": command,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if arguments is not UNSET:
            field_dict["arguments"] = arguments
        if delivery is not UNSET:
            field_dict["delivery"] = delivery
        if message_id is not UNSET:
            field_dict["messageID"] = message_id
        if model is not UNSET:
            field_dict["model"] = model
        if parts is not UNSET:
            field_dict["parts"] = parts
        if variant is not UNSET:
            field_dict["variant"] = variant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.command_body_parts_item import CommandBodyPartsItem

        d = dict(src_dict)
        command = d.pop("command")

        def _parse_agent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent = _parse_agent(d.pop("agent", UNSET))

        arguments = d.pop("arguments", UNSET)

        _delivery = d.pop("delivery", UNSET)
        delivery: CommandBodyDelivery | Unset
        if isinstance(_delivery, Unset):
            delivery = UNSET
        else:
            delivery = CommandBodyDelivery(_delivery)

        def _parse_message_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        message_id = _parse_message_id(d.pop("messageID", UNSET))

        def _parse_model(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        _parts = d.pop("parts", UNSET)
        parts: list[CommandBodyPartsItem] | Unset = UNSET
        if _parts is not UNSET:
            parts = []
            for parts_item_data in _parts:
                parts_item = CommandBodyPartsItem.from_dict(parts_item_data)

                parts.append(parts_item)

        def _parse_variant(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        variant = _parse_variant(d.pop("variant", UNSET))

        command_body = cls(
            command=command,
            agent=agent,
            arguments=arguments,
            delivery=delivery,
            message_id=message_id,
            model=model,
            parts=parts,
            variant=variant,
        )

        command_body.additional_properties = d
        return command_body

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
