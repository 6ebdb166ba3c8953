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
    from ..models.tool_pending_input import ToolPendingInput


T = TypeVar("T", bound="ToolPending")


@_attrs_define
class ToolPending:
    """Not started, or waiting for a person (then `input` is filled).

    Attributes:
        input_ (ToolPendingInput | Unset):
        raw (str | Unset):  Default: ''.
        status (Literal['pending'] | Unset):  Default: 'pending'.
    """

    input_: ToolPendingInput | Unset = UNSET
    raw: str | Unset = ""
    status: Literal["pending"] | Unset = "pending"

    def to_dict(self) -> dict[str, Any]:
        input_: dict[str, Any] | Unset = UNSET
        if not isinstance(self.input_, Unset):
            input_ = self.input_.to_dict()

        raw = self.raw

        status = self.status

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if input_ is not UNSET:
            field_dict["input"] = input_
        if raw is not UNSET:
            field_dict["raw"] = raw
        if status is not UNSET:
            field_dict["status"] = status

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.tool_pending_input import ToolPendingInput

        d = dict(src_dict)
        _input_ = d.pop("input", UNSET)
        input_: ToolPendingInput | Unset
        if isinstance(_input_, Unset):
            input_ = UNSET
        else:
            input_ = ToolPendingInput.from_dict(_input_)

        raw = d.pop("raw", UNSET)

        status = cast(Literal["pending"] | Unset, d.pop("status", UNSET))
        if status != "pending" and not isinstance(status, Unset):
            raise ValueError(f"status must match const 'pending', got '{status}'")

        tool_pending = cls(
            input_=input_,
            raw=raw,
            status=status,
        )

        return tool_pending
