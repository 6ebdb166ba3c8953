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
    from ..models.text_part_metadata import TextPartMetadata


T = TypeVar("T", bound="TextPart")


@_attrs_define
class TextPart:
    """
    Attributes:
        id (str):
        message_id (str):
        session_id (str):
        text (str):
        ignored (bool | Unset):
        metadata (TextPartMetadata | Unset):
        synthetic (bool | Unset):
        time (PartTime | Unset): Units: milliseconds since the epoch.
        type_ (Literal['text'] | Unset):  Default: 'text'.
    """

    id: str
    message_id: str
    session_id: str
    text: str
    ignored: bool | Unset = UNSET
    metadata: TextPartMetadata | Unset = UNSET
    synthetic: bool | Unset = UNSET
    time: PartTime | Unset = UNSET
    type_: Literal["text"] | Unset = "text"

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        text = self.text

        ignored = self.ignored

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        synthetic = self.synthetic

        time: dict[str, Any] | Unset = UNSET
        if not isinstance(self.time, Unset):
            time = self.time.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
                "text": text,
            }
        )
        if ignored is not UNSET:
            field_dict["ignored"] = ignored
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if synthetic is not UNSET:
            field_dict["synthetic"] = synthetic
        if time is not UNSET:
            field_dict["time"] = time
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.part_time import PartTime
        from ..models.text_part_metadata import TextPartMetadata

        d = dict(src_dict)
        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        text = d.pop("text")

        ignored = d.pop("ignored", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: TextPartMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = TextPartMetadata.from_dict(_metadata)

        synthetic = d.pop("synthetic", UNSET)

        _time = d.pop("time", UNSET)
        time: PartTime | Unset
        if isinstance(_time, Unset):
            time = UNSET
        else:
            time = PartTime.from_dict(_time)

        type_ = cast(Literal["text"] | Unset, d.pop("type", UNSET))
        if type_ != "text" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'text', got '{type_}'")

        text_part = cls(
            id=id,
            message_id=message_id,
            session_id=session_id,
            text=text,
            ignored=ignored,
            metadata=metadata,
            synthetic=synthetic,
            time=time,
            type_=type_,
        )

        return text_part
