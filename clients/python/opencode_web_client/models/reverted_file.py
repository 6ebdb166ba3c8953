from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.reverted_file_status import RevertedFileStatus

T = TypeVar("T", bound="RevertedFile")


@_attrs_define
class RevertedFile:
    """
    Attributes:
        additions (int):
        deletions (int):
        patch (str):
        path (str):
        status (RevertedFileStatus):
    """

    additions: int
    deletions: int
    patch: str
    path: str
    status: RevertedFileStatus
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        additions = self.additions

        deletions = self.deletions

        patch = self.patch

        path = self.path

        status = self.status.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "additions": additions,
                "deletions": deletions,
                "patch": patch,
                "path": path,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        additions = d.pop("additions")

        deletions = d.pop("deletions")

        patch = d.pop("patch")

        path = d.pop("path")

        status = RevertedFileStatus(d.pop("status"))

        reverted_file = cls(
            additions=additions,
            deletions=deletions,
            patch=patch,
            path=path,
            status=status,
        )

        reverted_file.additional_properties = d
        return reverted_file

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
