from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.agent_part import AgentPart
    from ..models.assistant_message import AssistantMessage
    from ..models.compaction_part import CompactionPart
    from ..models.file_part import FilePart
    from ..models.patch_part import PatchPart
    from ..models.reasoning_part import ReasoningPart
    from ..models.retry_part import RetryPart
    from ..models.snapshot_part import SnapshotPart
    from ..models.step_finish_part import StepFinishPart
    from ..models.step_start_part import StepStartPart
    from ..models.subtask_part import SubtaskPart
    from ..models.text_part import TextPart
    from ..models.tool_part import ToolPart


T = TypeVar("T", bound="AnswerMessage")


@_attrs_define
class AnswerMessage:
    """The answer to a prompt; without a reply that is wanted, the prompt itself.

    Attributes:
        info (AssistantMessage):
        parts (list[AgentPart | CompactionPart | FilePart | PatchPart | ReasoningPart | RetryPart | SnapshotPart |
            StepFinishPart | StepStartPart | SubtaskPart | TextPart | ToolPart]):
    """

    info: AssistantMessage
    parts: list[
        AgentPart
        | CompactionPart
        | FilePart
        | PatchPart
        | ReasoningPart
        | RetryPart
        | SnapshotPart
        | StepFinishPart
        | StepStartPart
        | SubtaskPart
        | TextPart
        | ToolPart
    ]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.agent_part import AgentPart
        from ..models.file_part import FilePart
        from ..models.patch_part import PatchPart
        from ..models.reasoning_part import ReasoningPart
        from ..models.retry_part import RetryPart
        from ..models.snapshot_part import SnapshotPart
        from ..models.step_finish_part import StepFinishPart
        from ..models.step_start_part import StepStartPart
        from ..models.subtask_part import SubtaskPart
        from ..models.text_part import TextPart
        from ..models.tool_part import ToolPart

        info = self.info.to_dict()

        parts = []
        for parts_item_data in self.parts:
            parts_item: dict[str, Any]
            if (
                isinstance(parts_item_data, TextPart)
                or isinstance(parts_item_data, ReasoningPart)
                or isinstance(parts_item_data, FilePart)
                or isinstance(parts_item_data, AgentPart)
                or isinstance(parts_item_data, SubtaskPart)
                or isinstance(parts_item_data, ToolPart)
                or isinstance(parts_item_data, StepStartPart)
                or isinstance(parts_item_data, StepFinishPart)
                or isinstance(parts_item_data, SnapshotPart)
                or isinstance(parts_item_data, PatchPart)
                or isinstance(parts_item_data, RetryPart)
            ):
                parts_item = parts_item_data.to_dict()
            else:
                parts_item = parts_item_data.to_dict()

            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "info": info,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.agent_part import AgentPart
        from ..models.assistant_message import AssistantMessage
        from ..models.compaction_part import CompactionPart
        from ..models.file_part import FilePart
        from ..models.patch_part import PatchPart
        from ..models.reasoning_part import ReasoningPart
        from ..models.retry_part import RetryPart
        from ..models.snapshot_part import SnapshotPart
        from ..models.step_finish_part import StepFinishPart
        from ..models.step_start_part import StepStartPart
        from ..models.subtask_part import SubtaskPart
        from ..models.text_part import TextPart
        from ..models.tool_part import ToolPart

        d = dict(src_dict)
        info = AssistantMessage.from_dict(d.pop("info"))

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:

            def _parse_parts_item(
                data: object,
            ) -> (
                AgentPart
                | CompactionPart
                | FilePart
                | PatchPart
                | ReasoningPart
                | RetryPart
                | SnapshotPart
                | StepFinishPart
                | StepStartPart
                | SubtaskPart
                | TextPart
                | ToolPart
            ):
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_0 = TextPart.from_dict(data)

                    return parts_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_1 = ReasoningPart.from_dict(data)

                    return parts_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_2 = FilePart.from_dict(data)

                    return parts_item_type_2
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_3 = AgentPart.from_dict(data)

                    return parts_item_type_3
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_4 = SubtaskPart.from_dict(data)

                    return parts_item_type_4
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_5 = ToolPart.from_dict(data)

                    return parts_item_type_5
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_6 = StepStartPart.from_dict(data)

                    return parts_item_type_6
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_7 = StepFinishPart.from_dict(data)

                    return parts_item_type_7
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_8 = SnapshotPart.from_dict(data)

                    return parts_item_type_8
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_9 = PatchPart.from_dict(data)

                    return parts_item_type_9
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    parts_item_type_10 = RetryPart.from_dict(data)

                    return parts_item_type_10
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                parts_item_type_11 = CompactionPart.from_dict(data)

                return parts_item_type_11

            parts_item = _parse_parts_item(parts_item_data)

            parts.append(parts_item)

        answer_message = cls(
            info=info,
            parts=parts,
        )

        answer_message.additional_properties = d
        return answer_message

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
