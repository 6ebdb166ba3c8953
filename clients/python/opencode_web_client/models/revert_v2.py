from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.reverted_file import RevertedFile


T = TypeVar("T", bound="RevertV2")


@_attrs_define
class RevertV2:
    """
    Attributes:
        files (list[RevertedFile]):
        message_id (str):
        diff (str | Unset):
        part_id (str | Unset):
        snapshot (str | Unset):
    """

    files: list[RevertedFile]
    message_id: str
    diff: str | Unset = UNSET
    part_id: str | Unset = UNSET
    snapshot: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        files = []
        for files_item_data in self.files:
            files_item = files_item_data.to_dict()
            files.append(files_item)

        message_id = self.message_id

        diff = self.diff

        part_id = self.part_id

        snapshot = self.snapshot

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "files": files,
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
        from ..models.reverted_file import RevertedFile

        d = dict(src_dict)
        files = []
        _files = d.pop("files")
        for files_item_data in _files:
            files_item = RevertedFile.from_dict(files_item_data)

            files.append(files_item)

        message_id = d.pop("messageID")

        diff = d.pop("diff", UNSET)

        part_id = d.pop("partID", UNSET)

        snapshot = d.pop("snapshot", UNSET)

        revert_v2 = cls(
            files=files,
            message_id=message_id,
            diff=diff,
            part_id=part_id,
            snapshot=snapshot,
        )

        revert_v2.additional_properties = d
        return revert_v2

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
