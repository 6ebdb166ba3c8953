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
from attrs import field as _attrs_field

from ..models.compaction_v2_reason import CompactionV2Reason

if TYPE_CHECKING:
    from ..models.message_time_v2 import MessageTimeV2


T = TypeVar("T", bound="CompactionV2")


@_attrs_define
class CompactionV2:
    """
    Attributes:
        id (str):
        reason (CompactionV2Reason):
        recent (str):
        summary (str):
        time (MessageTimeV2):
        type_ (Literal['compaction']):
    """

    id: str
    reason: CompactionV2Reason
    recent: str
    summary: str
    time: MessageTimeV2
    type_: Literal["compaction"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        reason = self.reason.value

        recent = self.recent

        summary = self.summary

        time = self.time.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "reason": reason,
                "recent": recent,
                "summary": summary,
                "time": time,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_time_v2 import MessageTimeV2

        d = dict(src_dict)
        id = d.pop("id")

        reason = CompactionV2Reason(d.pop("reason"))

        recent = d.pop("recent")

        summary = d.pop("summary")

        time = MessageTimeV2.from_dict(d.pop("time"))

        type_ = cast(Literal["compaction"], d.pop("type"))
        if type_ != "compaction":
            raise ValueError(f"type must match const 'compaction', got '{type_}'")

        compaction_v2 = cls(
            id=id,
            reason=reason,
            recent=recent,
            summary=summary,
            time=time,
            type_=type_,
        )

        compaction_v2.additional_properties = d
        return compaction_v2

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
