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
    from ..models.tool_running_input import ToolRunningInput
    from ..models.tool_running_metadata import ToolRunningMetadata


T = TypeVar("T", bound="ToolRunning")


@_attrs_define
class ToolRunning:
    """Started: from here on it may have had effects and must never be repeated.

    Attributes:
        input_ (ToolRunningInput):
        time (PartTime): Units: milliseconds since the epoch.
        metadata (ToolRunningMetadata | Unset):
        status (Literal['running'] | Unset):  Default: 'running'.
        title (str | Unset):
    """

    input_: ToolRunningInput
    time: PartTime
    metadata: ToolRunningMetadata | Unset = UNSET
    status: Literal["running"] | Unset = "running"
    title: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        input_ = self.input_.to_dict()

        time = self.time.to_dict()

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        status = self.status

        title = self.title

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "input": input_,
                "time": time,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if status is not UNSET:
            field_dict["status"] = status
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.part_time import PartTime
        from ..models.tool_running_input import ToolRunningInput
        from ..models.tool_running_metadata import ToolRunningMetadata

        d = dict(src_dict)
        input_ = ToolRunningInput.from_dict(d.pop("input"))

        time = PartTime.from_dict(d.pop("time"))

        _metadata = d.pop("metadata", UNSET)
        metadata: ToolRunningMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ToolRunningMetadata.from_dict(_metadata)

        status = cast(Literal["running"] | Unset, d.pop("status", UNSET))
        if status != "running" and not isinstance(status, Unset):
            raise ValueError(f"status must match const 'running', got '{status}'")

        title = d.pop("title", UNSET)

        tool_running = cls(
            input_=input_,
            time=time,
            metadata=metadata,
            status=status,
            title=title,
        )

        return tool_running
