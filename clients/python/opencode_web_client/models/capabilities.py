from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.media import Media
    from ..models.reasoning_field import ReasoningField


T = TypeVar("T", bound="Capabilities")


@_attrs_define
class Capabilities:
    """
    Attributes:
        attachment (bool):
        input_ (Media):
        interleaved (bool | ReasoningField):
        output (Media):
        reasoning (bool):
        temperature (bool):
        toolcall (bool):
    """

    attachment: bool
    input_: Media
    interleaved: bool | ReasoningField
    output: Media
    reasoning: bool
    temperature: bool
    toolcall: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.reasoning_field import ReasoningField

        attachment = self.attachment

        input_ = self.input_.to_dict()

        interleaved: bool | dict[str, Any]
        if isinstance(self.interleaved, ReasoningField):
            interleaved = self.interleaved.to_dict()
        else:
            interleaved = self.interleaved

        output = self.output.to_dict()

        reasoning = self.reasoning

        temperature = self.temperature

        toolcall = self.toolcall

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attachment": attachment,
                "input": input_,
                "interleaved": interleaved,
                "output": output,
                "reasoning": reasoning,
                "temperature": temperature,
                "toolcall": toolcall,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.media import Media
        from ..models.reasoning_field import ReasoningField

        d = dict(src_dict)
        attachment = d.pop("attachment")

        input_ = Media.from_dict(d.pop("input"))

        def _parse_interleaved(data: object) -> bool | ReasoningField:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                interleaved_type_1 = ReasoningField.from_dict(data)

                return interleaved_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | ReasoningField, data)

        interleaved = _parse_interleaved(d.pop("interleaved"))

        output = Media.from_dict(d.pop("output"))

        reasoning = d.pop("reasoning")

        temperature = d.pop("temperature")

        toolcall = d.pop("toolcall")

        capabilities = cls(
            attachment=attachment,
            input_=input_,
            interleaved=interleaved,
            output=output,
            reasoning=reasoning,
            temperature=temperature,
            toolcall=toolcall,
        )

        capabilities.additional_properties = d
        return capabilities

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
