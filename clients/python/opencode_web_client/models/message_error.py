from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.message_error_data import MessageErrorData


T = TypeVar("T", bound="MessageError")


@_attrs_define
class MessageError:
    """`name` is one of the wire's: ProviderAuthError, MessageAbortedError, APIError, …

    Attributes:
        data (MessageErrorData):
        name (str):
    """

    data: MessageErrorData
    name: str

    def to_dict(self) -> dict[str, Any]:
        data = self.data.to_dict()

        name = self.name

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "data": data,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_error_data import MessageErrorData

        d = dict(src_dict)
        data = MessageErrorData.from_dict(d.pop("data"))

        name = d.pop("name")

        message_error = cls(
            data=data,
            name=name,
        )

        return message_error
