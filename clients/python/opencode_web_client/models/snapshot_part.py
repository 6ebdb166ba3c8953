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

T = TypeVar("T", bound="SnapshotPart")


@_attrs_define
class SnapshotPart:
    """The worktree after a step that was cut off, as a tree of the shadow repository.

    Attributes:
        id (str):
        message_id (str):
        session_id (str):
        snapshot (str):
        type_ (Literal['snapshot'] | Unset):  Default: 'snapshot'.
    """

    id: str
    message_id: str
    session_id: str
    snapshot: str
    type_: Literal["snapshot"] | Unset = "snapshot"

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        snapshot = self.snapshot

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
                "snapshot": snapshot,
            }
        )
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        snapshot = d.pop("snapshot")

        type_ = cast(Literal["snapshot"] | Unset, d.pop("type", UNSET))
        if type_ != "snapshot" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'snapshot', got '{type_}'")

        snapshot_part = cls(
            id=id,
            message_id=message_id,
            session_id=session_id,
            snapshot=snapshot,
            type_=type_,
        )

        return snapshot_part
