from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CopyBody")


@_attrs_define
class CopyBody:
    """`directory` is the folder that is copied: one of the project.

    Attributes:
        strategy (str):
        directory (str | Unset):  Default: ''.
        name (str | Unset):  Default: ''.
    """

    strategy: str
    directory: str | Unset = ""
    name: str | Unset = ""
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        strategy = self.strategy

        directory = self.directory

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "strategy": strategy,
            }
        )
        if directory is not UNSET:
            field_dict["directory"] = directory
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        strategy = d.pop("strategy")

        directory = d.pop("directory", UNSET)

        name = d.pop("name", UNSET)

        copy_body = cls(
            strategy=strategy,
            directory=directory,
            name=name,
        )

        copy_body.additional_properties = d
        return copy_body

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
