from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.folder_of_reference import FolderOfReference


T = TypeVar("T", bound="ReferenceV2")


@_attrs_define
class ReferenceV2:
    """
    Attributes:
        name (str):
        path (str):
        source (FolderOfReference):
        description (str | Unset):
    """

    name: str
    path: str
    source: FolderOfReference
    description: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        path = self.path

        source = self.source.to_dict()

        description = self.description

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "path": path,
                "source": source,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.folder_of_reference import FolderOfReference

        d = dict(src_dict)
        name = d.pop("name")

        path = d.pop("path")

        source = FolderOfReference.from_dict(d.pop("source"))

        description = d.pop("description", UNSET)

        reference_v2 = cls(
            name=name,
            path=path,
            source=source,
            description=description,
        )

        reference_v2.additional_properties = d
        return reference_v2

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
