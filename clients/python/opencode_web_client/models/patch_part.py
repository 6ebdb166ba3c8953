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

T = TypeVar("T", bound="PatchPart")


@_attrs_define
class PatchPart:
    """Of very many files the first are named, and `more` says how many there are beside them.

    Attributes:
        files (list[str]):
        hash_ (str):
        id (str):
        message_id (str):
        session_id (str):
        more (int | Unset):
        type_ (Literal['patch'] | Unset):  Default: 'patch'.
    """

    files: list[str]
    hash_: str
    id: str
    message_id: str
    session_id: str
    more: int | Unset = UNSET
    type_: Literal["patch"] | Unset = "patch"

    def to_dict(self) -> dict[str, Any]:
        files = self.files

        hash_ = self.hash_

        id = self.id

        message_id = self.message_id

        session_id = self.session_id

        more = self.more

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "files": files,
                "hash": hash_,
                "id": id,
                "messageID": message_id,
                "sessionID": session_id,
            }
        )
        if more is not UNSET:
            field_dict["more"] = more
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        files = cast(list[str], d.pop("files"))

        hash_ = d.pop("hash")

        id = d.pop("id")

        message_id = d.pop("messageID")

        session_id = d.pop("sessionID")

        more = d.pop("more", UNSET)

        type_ = cast(Literal["patch"] | Unset, d.pop("type", UNSET))
        if type_ != "patch" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'patch', got '{type_}'")

        patch_part = cls(
            files=files,
            hash_=hash_,
            id=id,
            message_id=message_id,
            session_id=session_id,
            more=more,
            type_=type_,
        )

        return patch_part
