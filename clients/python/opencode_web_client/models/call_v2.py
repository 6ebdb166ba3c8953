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

if TYPE_CHECKING:
    from ..models.call_completed import CallCompleted
    from ..models.call_failed import CallFailed
    from ..models.call_pending import CallPending
    from ..models.call_running import CallRunning
    from ..models.call_time import CallTime


T = TypeVar("T", bound="CallV2")


@_attrs_define
class CallV2:
    """
    Attributes:
        id (str):
        name (str):
        state (CallCompleted | CallFailed | CallPending | CallRunning):
        time (CallTime):
        type_ (Literal['tool']):
    """

    id: str
    name: str
    state: CallCompleted | CallFailed | CallPending | CallRunning
    time: CallTime
    type_: Literal["tool"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.call_completed import CallCompleted
        from ..models.call_pending import CallPending
        from ..models.call_running import CallRunning

        id = self.id

        name = self.name

        state: dict[str, Any]
        if (
            isinstance(self.state, CallPending)
            or isinstance(self.state, CallRunning)
            or isinstance(self.state, CallCompleted)
        ):
            state = self.state.to_dict()
        else:
            state = self.state.to_dict()

        time = self.time.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "state": state,
                "time": time,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.call_completed import CallCompleted
        from ..models.call_failed import CallFailed
        from ..models.call_pending import CallPending
        from ..models.call_running import CallRunning
        from ..models.call_time import CallTime

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        def _parse_state(
            data: object,
        ) -> CallCompleted | CallFailed | CallPending | CallRunning:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_type_0 = CallPending.from_dict(data)

                return state_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_type_1 = CallRunning.from_dict(data)

                return state_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                state_type_2 = CallCompleted.from_dict(data)

                return state_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            state_type_3 = CallFailed.from_dict(data)

            return state_type_3

        state = _parse_state(d.pop("state"))

        time = CallTime.from_dict(d.pop("time"))

        type_ = cast(Literal["tool"], d.pop("type"))
        if type_ != "tool":
            raise ValueError(f"type must match const 'tool', got '{type_}'")

        call_v2 = cls(
            id=id,
            name=name,
            state=state,
            time=time,
            type_=type_,
        )

        call_v2.additional_properties = d
        return call_v2

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
