from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Revert")


@_attrs_define
class Revert:
    """The message, or the part of it, from which on everything is rolled back.

    `snapshot` is the worktree before the rollback and `diff` what it changed in the files; both are
    absent when it changed none.
    Source: `Session.revert` of OpenCode's HTTP API.

        Attributes:
            message_id (str):
            diff (str | Unset):
            part_id (str | Unset):
            snapshot (str | Unset):
    """

    message_id: str
    diff: str | Unset = UNSET
    part_id: str | Unset = UNSET
    snapshot: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        message_id = self.message_id

        diff = self.diff

        part_id = self.part_id

        snapshot = self.snapshot

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "messageID": message_id,
            }
        )
        if diff is not UNSET:
            field_dict["diff"] = diff
        if part_id is not UNSET:
            field_dict["partID"] = part_id
        if snapshot is not UNSET:
            field_dict["snapshot"] = snapshot

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        message_id = d.pop("messageID")

        diff = d.pop("diff", UNSET)

        part_id = d.pop("partID", UNSET)

        snapshot = d.pop("snapshot", UNSET)

        revert = cls(
            message_id=message_id,
            diff=diff,
            part_id=part_id,
            snapshot=snapshot,
        )

        return revert
