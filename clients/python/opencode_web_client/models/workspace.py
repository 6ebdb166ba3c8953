from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Workspace")


@_attrs_define
class Workspace:
    """
    Attributes:
        id (str):
        name (str):
        project_id (str):
        time_used (float):
        type_ (str):
        branch (str | Unset):
        directory (str | Unset):
    """

    id: str
    name: str
    project_id: str
    time_used: float
    type_: str
    branch: str | Unset = UNSET
    directory: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        project_id = self.project_id

        time_used = self.time_used

        type_ = self.type_

        branch = self.branch

        directory = self.directory

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "projectID": project_id,
                "timeUsed": time_used,
                "type": type_,
            }
        )
        if branch is not UNSET:
            field_dict["branch"] = branch
        if directory is not UNSET:
            field_dict["directory"] = directory

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        project_id = d.pop("projectID")

        time_used = d.pop("timeUsed")

        type_ = d.pop("type")

        branch = d.pop("branch", UNSET)

        directory = d.pop("directory", UNSET)

        workspace = cls(
            id=id,
            name=name,
            project_id=project_id,
            time_used=time_used,
            type_=type_,
            branch=branch,
            directory=directory,
        )

        workspace.additional_properties = d
        return workspace

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
