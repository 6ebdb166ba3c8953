from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.permission_reply_reply import PermissionReplyReply
from ..types import UNSET, Unset

T = TypeVar("T", bound="PermissionReply")


@_attrs_define
class PermissionReply:
    """An answer to a permission request. A message with `reject` goes to the agent.

    Attributes:
        reply (PermissionReplyReply):
        message (str | Unset):  Default: ''.
    """

    reply: PermissionReplyReply
    message: str | Unset = ""
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reply = self.reply.value

        message = self.message

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reply": reply,
            }
        )
        if message is not UNSET:
            field_dict["message"] = message

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reply = PermissionReplyReply(d.pop("reply"))

        message = d.pop("message", UNSET)

        permission_reply = cls(
            reply=reply,
            message=message,
        )

        permission_reply.additional_properties = d
        return permission_reply

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
