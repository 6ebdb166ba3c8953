from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.file_node_type import FileNodeType

T = TypeVar("T", bound="FileNode")


@_attrs_define
class FileNode:
    """Paths of folders end with a slash.

    Attributes:
        absolute (str):
        ignored (bool):
        name (str):
        path (str):
        type_ (FileNodeType):
    """

    absolute: str
    ignored: bool
    name: str
    path: str
    type_: FileNodeType
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        absolute = self.absolute

        ignored = self.ignored

        name = self.name

        path = self.path

        type_ = self.type_.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "absolute": absolute,
                "ignored": ignored,
                "name": name,
                "path": path,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        absolute = d.pop("absolute")

        ignored = d.pop("ignored")

        name = d.pop("name")

        path = d.pop("path")

        type_ = FileNodeType(d.pop("type"))

        file_node = cls(
            absolute=absolute,
            ignored=ignored,
            name=name,
            path=path,
            type_=type_,
        )

        file_node.additional_properties = d
        return file_node

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
