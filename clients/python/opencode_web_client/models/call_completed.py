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

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.call_completed_input import CallCompletedInput
    from ..models.call_completed_structured import CallCompletedStructured
    from ..models.call_content import CallContent
    from ..models.prompt_file import PromptFile


T = TypeVar("T", bound="CallCompleted")


@_attrs_define
class CallCompleted:
    """
    Attributes:
        content (list[CallContent]):
        input_ (CallCompletedInput):
        status (Literal['completed']):
        structured (CallCompletedStructured):
        attachments (list[PromptFile] | Unset):
    """

    content: list[CallContent]
    input_: CallCompletedInput
    status: Literal["completed"]
    structured: CallCompletedStructured
    attachments: list[PromptFile] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        content = []
        for content_item_data in self.content:
            content_item = content_item_data.to_dict()
            content.append(content_item)

        input_ = self.input_.to_dict()

        status = self.status

        structured = self.structured.to_dict()

        attachments: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.attachments, Unset):
            attachments = []
            for attachments_item_data in self.attachments:
                attachments_item = attachments_item_data.to_dict()
                attachments.append(attachments_item)

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
        if attachments is not UNSET:
            field_dict["attachments"] = attachments

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.call_completed_input import CallCompletedInput
        from ..models.call_completed_structured import CallCompletedStructured
        from ..models.call_content import CallContent
        from ..models.prompt_file import PromptFile

        d = dict(src_dict)
        content = []
        _content = d.pop("content")
        for content_item_data in _content:
            content_item = CallContent.from_dict(content_item_data)

            content.append(content_item)

        input_ = CallCompletedInput.from_dict(d.pop("input"))

        status = cast(Literal["completed"], d.pop("status"))
        if status != "completed":
            raise ValueError(f"status must match const 'completed', got '{status}'")

        structured = CallCompletedStructured.from_dict(d.pop("structured"))

        _attachments = d.pop("attachments", UNSET)
        attachments: list[PromptFile] | Unset = UNSET
        if _attachments is not UNSET:
            attachments = []
            for attachments_item_data in _attachments:
                attachments_item = PromptFile.from_dict(attachments_item_data)

                attachments.append(attachments_item)

        call_completed = cls(
            content=content,
            input_=input_,
            status=status,
            structured=structured,
            attachments=attachments,
        )

        call_completed.additional_properties = d
        return call_completed

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
