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
    from ..models.part_time import PartTime
    from ..models.tool_failed_input import ToolFailedInput
    from ..models.tool_failed_metadata import ToolFailedMetadata


T = TypeVar("T", bound="ToolFailed")


@_attrs_define
class ToolFailed:
    """
    Attributes:
        error (str):
        input_ (ToolFailedInput):
        time (PartTime): Units: milliseconds since the epoch.
        metadata (ToolFailedMetadata | Unset):
        status (Literal['error'] | Unset):  Default: 'error'.
    """

    error: str
    input_: ToolFailedInput
    time: PartTime
    metadata: ToolFailedMetadata | Unset = UNSET
    status: Literal["error"] | Unset = "error"

    def to_dict(self) -> dict[str, Any]:
        error = self.error

        input_ = self.input_.to_dict()

        time = self.time.to_dict()

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        status = self.status

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "error": error,
                "input": input_,
                "time": time,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.part_time import PartTime
        from ..models.tool_failed_input import ToolFailedInput
        from ..models.tool_failed_metadata import ToolFailedMetadata

        d = dict(src_dict)
        error = d.pop("error")

        input_ = ToolFailedInput.from_dict(d.pop("input"))

        time = PartTime.from_dict(d.pop("time"))

        _metadata = d.pop("metadata", UNSET)
        metadata: ToolFailedMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ToolFailedMetadata.from_dict(_metadata)

        status = cast(Literal["error"] | Unset, d.pop("status", UNSET))
        if status != "error" and not isinstance(status, Unset):
            raise ValueError(f"status must match const 'error', got '{status}'")

        tool_failed = cls(
            error=error,
            input_=input_,
            time=time,
            metadata=metadata,
            status=status,
        )

        return tool_failed
