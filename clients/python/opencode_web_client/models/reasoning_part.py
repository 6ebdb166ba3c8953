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
    from ..models.reasoning_part_metadata import ReasoningPartMetadata


T = TypeVar("T", bound="ReasoningPart")


@_attrs_define
class ReasoningPart:
    """
    Attributes:
        id (str):
        message_id (str):
        session_id (str):
        text (str):
        time (PartTime): Units: milliseconds since the epoch.
        metadata (ReasoningPartMetadata | Unset):
        type_ (Literal['reasoning'] | Unset):  Default: 'reasoning'.
    """

    id: str
    message_id: str
    session_id: str
    text: str
    time: PartTime
    metadata: ReasoningPartMetadata | Unset = UNSET
    type_: Literal["reasoning"] | Unset = "reasoning"

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        text = self.text

        time = self.time.to_dict()

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
                "text": text,
                "time": time,
            }
        )
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.part_time import PartTime
        from ..models.reasoning_part_metadata import ReasoningPartMetadata

        d = dict(src_dict)
        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        text = d.pop("text")

        time = PartTime.from_dict(d.pop("time"))

        _metadata = d.pop("metadata", UNSET)
        metadata: ReasoningPartMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = ReasoningPartMetadata.from_dict(_metadata)

        type_ = cast(Literal["reasoning"] | Unset, d.pop("type", UNSET))
        if type_ != "reasoning" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'reasoning', got '{type_}'")

        reasoning_part = cls(
            id=id,
            message_id=message_id,
            session_id=session_id,
            text=text,
            time=time,
            metadata=metadata,
            type_=type_,
        )

        return reasoning_part
