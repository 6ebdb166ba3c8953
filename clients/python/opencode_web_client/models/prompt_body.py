from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.prompt_body_delivery import PromptBodyDelivery
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.prompt_body_format_type_0 import PromptBodyFormatType0
    from ..models.prompt_body_parts_item import PromptBodyPartsItem
    from ..models.prompt_body_tools_type_0 import PromptBodyToolsType0
    from ..models.prompt_model import PromptModel


T = TypeVar("T", bound="PromptBody")


@_attrs_define
class PromptBody:
    """A prompt. `messageID` makes a retry safe; `delivery` says what happens while a turn runs.

    Attributes:
        parts (list[PromptBodyPartsItem]):
        agent (None | str | Unset):
        delivery (PromptBodyDelivery | Unset):  Default: PromptBodyDelivery.STEER.
        format_ (None | PromptBodyFormatType0 | Unset):
        message_id (None | str | Unset):
        model (None | PromptModel | Unset):
        no_reply (bool | Unset):  Default: False.
        system (None | str | Unset):
        tools (None | PromptBodyToolsType0 | Unset):
        variant (None | str | Unset):
    """

    parts: list[PromptBodyPartsItem]
    agent: None | str | Unset = UNSET
    delivery: PromptBodyDelivery | Unset = PromptBodyDelivery.STEER
    format_: None | PromptBodyFormatType0 | Unset = UNSET
    message_id: None | str | Unset = UNSET
    model: None | PromptModel | Unset = UNSET
    no_reply: bool | Unset = False
    system: None | str | Unset = UNSET
    tools: None | PromptBodyToolsType0 | Unset = UNSET
    variant: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.prompt_body_format_type_0 import PromptBodyFormatType0
        from ..models.prompt_body_tools_type_0 import PromptBodyToolsType0
        from ..models.prompt_model import PromptModel

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        agent: None | str | Unset
        if isinstance(self.agent, Unset):
            agent = UNSET
        else:
            agent = self.agent

        delivery: str | Unset = UNSET
        if not isinstance(self.delivery, Unset):
            delivery = self.delivery.value

        format_: dict[str, Any] | None | Unset
        if isinstance(self.format_, Unset):
            format_ = UNSET
        elif isinstance(self.format_, PromptBodyFormatType0):
            format_ = self.format_.to_dict()
        else:
            format_ = self.format_

        message_id: None | str | Unset
        if isinstance(self.message_id, Unset):
            message_id = UNSET
        else:
            message_id = self.message_id

        model: dict[str, Any] | None | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        elif isinstance(self.model, PromptModel):
            model = self.model.to_dict()
        else:
            model = self.model

        no_reply = self.no_reply

        system: None | str | Unset
        if isinstance(self.system, Unset):
            system = UNSET
        else:
            system = self.system

        tools: dict[str, Any] | None | Unset
        if isinstance(self.tools, Unset):
            tools = UNSET
        elif isinstance(self.tools, PromptBodyToolsType0):
            tools = self.tools.to_dict()
        else:
            tools = self.tools

        variant: None | str | Unset
        if isinstance(self.variant, Unset):
            variant = UNSET
        else:
            variant = self.variant

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "parts": parts,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if delivery is not UNSET:
            field_dict["delivery"] = delivery
        if format_ is not UNSET:
            field_dict["format"] = format_
        if message_id is not UNSET:
            field_dict["messageID"] = message_id
        if model is not UNSET:
            field_dict["model"] = model
        if no_reply is not UNSET:
            field_dict["noReply"] = no_reply
        if system is not UNSET:
            field_dict["system"] = system
        if tools is not UNSET:
            field_dict["tools"] = tools
        if variant is not UNSET:
            field_dict["variant"] = variant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prompt_body_format_type_0 import PromptBodyFormatType0
        from ..models.prompt_body_parts_item import PromptBodyPartsItem
        from ..models.prompt_body_tools_type_0 import PromptBodyToolsType0
        from ..models.prompt_model import PromptModel

        d = dict(src_dict)
        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = PromptBodyPartsItem.from_dict(parts_item_data)

            parts.append(parts_item)

        def _parse_agent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent = _parse_agent(d.pop("agent", UNSET))

        _delivery = d.pop("delivery", UNSET)
        delivery: PromptBodyDelivery | Unset
        if isinstance(_delivery, Unset):
            delivery = UNSET
        else:
            delivery = PromptBodyDelivery(_delivery)

        def _parse_format_(data: object) -> None | PromptBodyFormatType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                format_type_0 = PromptBodyFormatType0.from_dict(data)

                return format_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PromptBodyFormatType0 | Unset, data)

        format_ = _parse_format_(d.pop("format", UNSET))

        def _parse_message_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        message_id = _parse_message_id(d.pop("messageID", UNSET))

        def _parse_model(data: object) -> None | PromptModel | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                model_type_0 = PromptModel.from_dict(data)

                return model_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PromptModel | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        no_reply = d.pop("noReply", UNSET)

        def _parse_system(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        system = _parse_system(d.pop("system", UNSET))

        def _parse_tools(data: object) -> None | PromptBodyToolsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tools_type_0 = PromptBodyToolsType0.from_dict(data)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PromptBodyToolsType0 | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))

        def _parse_variant(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        variant = _parse_variant(d.pop("variant", UNSET))

        prompt_body = cls(
            parts=parts,
            agent=agent,
            delivery=delivery,
            format_=format_,
            message_id=message_id,
            model=model,
            no_reply=no_reply,
            system=system,
            tools=tools,
            variant=variant,
        )

        prompt_body.additional_properties = d
        return prompt_body

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
