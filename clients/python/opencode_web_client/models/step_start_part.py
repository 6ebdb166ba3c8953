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

T = TypeVar("T", bound="StepStartPart")


@_attrs_define
class StepStartPart:
    """`snapshot`: the worktree before the first change of the step, once it makes one.

    Attributes:
        id (str):
        message_id (str):
        session_id (str):
        snapshot (str | Unset):
        type_ (Literal['step-start'] | Unset):  Default: 'step-start'.
    """

    id: str
    message_id: str
    session_id: str
    snapshot: str | Unset = UNSET
    type_: Literal["step-start"] | Unset = "step-start"

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
            }
        )
        if snapshot is not UNSET:
            field_dict["snapshot"] = snapshot
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        snapshot = d.pop("snapshot", UNSET)

        type_ = cast(Literal["step-start"] | Unset, d.pop("type", UNSET))
        if type_ != "step-start" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'step-start', got '{type_}'")

        step_start_part = cls(
            id=id,
            message_id=message_id,
            session_id=session_id,
            snapshot=snapshot,
            type_=type_,
        )

        return step_start_part
