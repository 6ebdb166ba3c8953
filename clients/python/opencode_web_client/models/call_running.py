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
    from ..models.call_content import CallContent
    from ..models.call_running_input import CallRunningInput
    from ..models.call_running_structured import CallRunningStructured


T = TypeVar("T", bound="CallRunning")


@_attrs_define
class CallRunning:
    """
    Attributes:
        content (list[CallContent]):
        input_ (CallRunningInput):
        status (Literal['running']):
        structured (CallRunningStructured):
    """

    content: list[CallContent]
    input_: CallRunningInput
    status: Literal["running"]
    structured: CallRunningStructured
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        content = []
        for content_item_data in self.content:
            content_item = content_item_data.to_dict()
            content.append(content_item)

        input_ = self.input_.to_dict()

        status = self.status

        structured = self.structured.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "content": content,
                "input": input_,
                "status": status,
                "structured": structured,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.call_content import CallContent
        from ..models.call_running_input import CallRunningInput
        from ..models.call_running_structured import CallRunningStructured

        d = dict(src_dict)
        content = []
        _content = d.pop("content")
        for content_item_data in _content:
            content_item = CallContent.from_dict(content_item_data)

            content.append(content_item)

        input_ = CallRunningInput.from_dict(d.pop("input"))

        status = cast(Literal["running"], d.pop("status"))
        if status != "running":
            raise ValueError(f"status must match const 'running', got '{status}'")

        structured = CallRunningStructured.from_dict(d.pop("structured"))

        call_running = cls(
            content=content,
            input_=input_,
            status=status,
            structured=structured,
        )

        call_running.additional_properties = d
        return call_running

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
