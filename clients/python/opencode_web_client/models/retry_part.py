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
    from ..models.message_error import MessageError
    from ..models.part_model import PartModel
    from ..models.retry_part_time import RetryPartTime


T = TypeVar("T", bound="RetryPart")


@_attrs_define
class RetryPart:
    """
    Attributes:
        attempt (int):
        error (MessageError): `name` is one of the wire's: ProviderAuthError, MessageAbortedError, APIError, …
        id (str):
        message_id (str):
        session_id (str):
        time (RetryPartTime):
        fallback (PartModel | Unset): The model that a part names.
        type_ (Literal['retry'] | Unset):  Default: 'retry'.
    """

    attempt: int
    error: MessageError
    id: str
    message_id: str
    session_id: str
    time: RetryPartTime
    fallback: PartModel | Unset = UNSET
    type_: Literal["retry"] | Unset = "retry"

    def to_dict(self) -> dict[str, Any]:
        attempt = self.attempt

        error = self.error.to_dict()

        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        time = self.time.to_dict()

        fallback: dict[str, Any] | Unset = UNSET
        if not isinstance(self.fallback, Unset):
            fallback = self.fallback.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "attempt": attempt,
                "error": error,
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
                "time": time,
            }
        )
        if fallback is not UNSET:
            field_dict["fallback"] = fallback
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_error import MessageError
        from ..models.part_model import PartModel
        from ..models.retry_part_time import RetryPartTime

        d = dict(src_dict)
        attempt = d.pop("attempt")

        error = MessageError.from_dict(d.pop("error"))

        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        time = RetryPartTime.from_dict(d.pop("time"))

        _fallback = d.pop("fallback", UNSET)
        fallback: PartModel | Unset
        if isinstance(_fallback, Unset):
            fallback = UNSET
        else:
            fallback = PartModel.from_dict(_fallback)

        type_ = cast(Literal["retry"] | Unset, d.pop("type", UNSET))
        if type_ != "retry" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'retry', got '{type_}'")

        retry_part = cls(
            attempt=attempt,
            error=error,
            id=id,
            message_id=message_id,
            session_id=session_id,
            time=time,
            fallback=fallback,
            type_=type_,
        )

        return retry_part
