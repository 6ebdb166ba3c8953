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
    from ..models.tokens import Tokens


T = TypeVar("T", bound="StepFinishPart")


@_attrs_define
class StepFinishPart:
    """
    Attributes:
        cost (float):
        id (str):
        message_id (str):
        reason (str):
        session_id (str):
        tokens (Tokens): Units: tokens. `input` excludes the cache, `output` excludes reasoning.
        snapshot (str | Unset):
        type_ (Literal['step-finish'] | Unset):  Default: 'step-finish'.
    """

    cost: float
    id: str
    message_id: str
    reason: str
    session_id: str
    tokens: Tokens
    snapshot: str | Unset = UNSET
    type_: Literal["step-finish"] | Unset = "step-finish"

    def to_dict(self) -> dict[str, Any]:
        cost = self.cost

        id = self.id

        message_id = self.message_id

        reason = self.reason

        session_id = self.session_id

        tokens = self.tokens.to_dict()

        snapshot = self.snapshot

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "cost": cost,
                "id": id,
                "messageID": message_id,
                "reason": reason,
                "sessionID": session_id,
                "tokens": tokens,
            }
        )
        if snapshot is not UNSET:
            field_dict["snapshot"] = snapshot
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tokens import Tokens

        d = dict(src_dict)
        cost = d.pop("cost")

        id = d.pop("id")

        message_id = d.pop("messageID")

        reason = d.pop("reason")

        session_id = d.pop("sessionID")

        tokens = Tokens.from_dict(d.pop("tokens"))

        snapshot = d.pop("snapshot", UNSET)

        type_ = cast(Literal["step-finish"] | Unset, d.pop("type", UNSET))
        if type_ != "step-finish" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'step-finish', got '{type_}'")

        step_finish_part = cls(
            cost=cost,
            id=id,
            message_id=message_id,
            reason=reason,
            session_id=session_id,
            tokens=tokens,
            snapshot=snapshot,
            type_=type_,
        )

        return step_finish_part
