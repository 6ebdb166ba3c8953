from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.file_diff_status import FileDiffStatus

T = TypeVar("T", bound="FileDiff")


@_attrs_define
class FileDiff:
    """
    Attributes:
        additions (int):
        deletions (int):
        file (str):
        patch (str):
        status (FileDiffStatus):
    """

    additions: int
    deletions: int
    file: str
    patch: str
    status: FileDiffStatus
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        additions = self.additions

        deletions = self.deletions

        file = self.file

        patch = self.patch

        status = self.status.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "additions": additions,
                "deletions": deletions,
                "file": file,
                "patch": patch,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        additions = d.pop("additions")

        deletions = d.pop("deletions")

        file = d.pop("file")

        patch = d.pop("patch")

        status = FileDiffStatus(d.pop("status"))

        file_diff = cls(
            additions=additions,
            deletions=deletions,
            file=file,
            patch=patch,
            status=status,
        )

        file_diff.additional_properties = d
        return file_diff

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
