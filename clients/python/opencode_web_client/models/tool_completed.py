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

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.done_time import DoneTime
    from ..models.file_part import FilePart
    from ..models.tool_completed_input import ToolCompletedInput
    from ..models.tool_completed_metadata import ToolCompletedMetadata


T = TypeVar("T", bound="ToolCompleted")


@_attrs_define
class ToolCompleted:
    """
    Attributes:
        input_ (ToolCompletedInput):
        metadata (ToolCompletedMetadata):
        output (str):
        time (DoneTime): `compacted`: when the model got a placeholder in place of the output, to make room.
        title (str):
        attachments (list[FilePart] | Unset):
        status (Literal['completed'] | Unset):  Default: 'completed'.
    """

    input_: ToolCompletedInput
    metadata: ToolCompletedMetadata
    output: str
    time: DoneTime
    title: str
    attachments: list[FilePart] | Unset = UNSET
    status: Literal["completed"] | Unset = "completed"

    def to_dict(self) -> dict[str, Any]:
        input_ = self.input_.to_dict()

        metadata = self.metadata.to_dict()

        output = self.output

        time = self.time.to_dict()

        title = self.title

        attachments: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.attachments, Unset):
            attachments = []
            for attachments_item_data in self.attachments:
                attachments_item = attachments_item_data.to_dict()
                attachments.append(attachments_item)

        status = self.status

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "input": input_,
                "metadata": metadata,
                "output": output,
                "time": time,
                "title": title,
            }
        )
        if attachments is not UNSET:
            field_dict["attachments"] = attachments
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.done_time import DoneTime
        from ..models.file_part import FilePart
        from ..models.tool_completed_input import ToolCompletedInput
        from ..models.tool_completed_metadata import ToolCompletedMetadata

        d = dict(src_dict)
        input_ = ToolCompletedInput.from_dict(d.pop("input"))

        metadata = ToolCompletedMetadata.from_dict(d.pop("metadata"))

        output = d.pop("output")

        time = DoneTime.from_dict(d.pop("time"))

        title = d.pop("title")

        _attachments = d.pop("attachments", UNSET)
        attachments: list[FilePart] | Unset = UNSET
        if _attachments is not UNSET:
            attachments = []
            for attachments_item_data in _attachments:
                attachments_item = FilePart.from_dict(attachments_item_data)

                attachments.append(attachments_item)

        status = cast(Literal["completed"] | Unset, d.pop("status", UNSET))
        if status != "completed" and not isinstance(status, Unset):
            raise ValueError(f"status must match const 'completed', got '{status}'")

        tool_completed = cls(
            input_=input_,
            metadata=metadata,
            output=output,
            time=time,
            title=title,
            attachments=attachments,
            status=status,
        )

        return tool_completed
