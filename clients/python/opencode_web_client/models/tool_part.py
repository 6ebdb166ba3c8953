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
    from ..models.tool_completed import ToolCompleted
    from ..models.tool_failed import ToolFailed
    from ..models.tool_part_metadata import ToolPartMetadata
    from ..models.tool_pending import ToolPending
    from ..models.tool_running import ToolRunning


T = TypeVar("T", bound="ToolPart")


@_attrs_define
class ToolPart:
    """
    Attributes:
        call_id (str):
        id (str):
        message_id (str):
        session_id (str):
        state (ToolCompleted | ToolFailed | ToolPending | ToolRunning):
        tool (str):
        metadata (ToolPartMetadata | Unset):
        type_ (Literal['tool'] | Unset):  Default: 'tool'.
    """

    call_id: str
    id: str
    message_id: str
    session_id: str
    state: ToolCompleted | ToolFailed | ToolPending | ToolRunning
    tool: str
    metadata: ToolPartMetadata | Unset = UNSET
    type_: Literal["tool"] | Unset = "tool"

    def to_dict(self) -> dict[str, Any]:
        from ..models.tool_completed import ToolCompleted
        from ..models.tool_pending import ToolPending
        from ..models.tool_running import ToolRunning

        call_id = self.call_id

        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        state: dict[str, Any]
        if (
            isinstance(self.state, ToolPending)
            or isinstance(self.state, ToolRunning)
            or isinstance(self.state, ToolCompleted)
        ):
            state = self.state.to_dict()
        else:
            state = self.state.to_dict()

        tool = self.tool

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "callID": call_id,
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
                "state": state,
                "tool": tool,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tool_completed import ToolCompleted
        from ..models.tool_failed import ToolFailed
        from ..models.tool_part_metadata import ToolPartMetadata
        from ..models.tool_pending import ToolPending
        from ..models.tool_running import ToolRunning

        d = dict(src_dict)
        call_id = d.pop("callID")

        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        def _parse_state(
            data: object,
        ) -> ToolCompleted | ToolFailed | ToolPending | ToolRunning:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_type_0 = ToolPending.from_dict(data)

                return state_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_type_1 = ToolRunning.from_dict(data)

                return state_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_type_2 = ToolCompleted.from_dict(data)

                return state_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            state_type_3 = ToolFailed.from_dict(data)

            return state_type_3

        state = _parse_state(d.pop("state"))

        tool = d.pop("tool")

        _metadata = d.pop("metadata", UNSET)
        metadata: ToolPartMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ToolPartMetadata.from_dict(_metadata)

        type_ = cast(Literal["tool"] | Unset, d.pop("type", UNSET))
        if type_ != "tool" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'tool', got '{type_}'")

        tool_part = cls(
            call_id=call_id,
            id=id,
            message_id=message_id,
            session_id=session_id,
            state=state,
            tool=tool,
            metadata=metadata,
            type_=type_,
        )

        return tool_part
