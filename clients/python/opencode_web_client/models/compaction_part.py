from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CompactionPart")


@_attrs_define
class CompactionPart:
    """Asks for a summary of what came before its message. `auto`: the work then goes on.

    `overflow`: the provider had refused the request as too long. From the message `tail_start_id`
    on the history is kept verbatim.

        Attributes:
            auto (bool):
            id (str):
            message_id (str):
            session_id (str):
            overflow (bool | Unset):
            tail_start_id (str | Unset):
            type_ (Literal['compaction'] | Unset):  Default: 'compaction'.
    """

    auto: bool
    id: str
    message_id: str
    session_id: str
    overflow: bool | Unset = UNSET
    tail_start_id: str | Unset = UNSET
    type_: Literal["compaction"] | Unset = "compaction"

    def to_dict(self) -> dict[str, Any]:
        auto = self.auto

        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        overflow = self.overflow

        tail_start_id = self.tail_start_id

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "auto": auto,
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
            }
        )
        if overflow is not UNSET:
            field_dict["overflow"] = overflow
        if tail_start_id is not UNSET:
            field_dict["tail_start_id"] = tail_start_id
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        auto = d.pop("auto")

        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        overflow = d.pop("overflow", UNSET)

        tail_start_id = d.pop("tail_start_id", UNSET)

        type_ = cast(Literal["compaction"] | Unset, d.pop("type", UNSET))
        if type_ != "compaction" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'compaction', got '{type_}'")

        compaction_part = cls(
            auto=auto,
            id=id,
            message_id=message_id,
            session_id=session_id,
            overflow=overflow,
            tail_start_id=tail_start_id,
            type_=type_,
        )

        return compaction_part
