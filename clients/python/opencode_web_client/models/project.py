from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.project_icon import ProjectIcon
    from ..models.project_times import ProjectTimes


T = TypeVar("T", bound="Project")


@_attrs_define
class Project:
    """
    Attributes:
        id (str):
        name (str):
        sandboxes (list[str]):
        time (ProjectTimes): Units: milliseconds since the epoch.
        vcs (Literal['git']):
        worktree (str):
        icon (ProjectIcon | Unset): How clients draw a project: a picture as a data: URL, or a colour.
    """

    id: str
    name: str
    sandboxes: list[str]
    time: ProjectTimes
    vcs: Literal["git"]
    worktree: str
    icon: ProjectIcon | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        sandboxes = self.sandboxes

        time = self.time.to_dict()

        vcs = self.vcs

        worktree = self.worktree

        icon: dict[str, Any] | Unset = UNSET
        if not isinstance(self.icon, Unset):
            icon = self.icon.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "sandboxes": sandboxes,
                "time": time,
                "vcs": vcs,
                "worktree": worktree,
            }
        )
        if icon is not UNSET:
            field_dict["icon"] = icon

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.project_icon import ProjectIcon
        from ..models.project_times import ProjectTimes

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        sandboxes = cast(list[str], d.pop("sandboxes"))

        time = ProjectTimes.from_dict(d.pop("time"))

        vcs = cast(Literal["git"], d.pop("vcs"))
        if vcs != "git":
            raise ValueError(f"vcs must match const 'git', got '{vcs}'")

        worktree = d.pop("worktree")

        _icon = d.pop("icon", UNSET)
        icon: ProjectIcon | Unset
        if isinstance(_icon, Unset):
            icon = UNSET
        else:
            icon = ProjectIcon.from_dict(_icon)

        project = cls(
            id=id,
            name=name,
            sandboxes=sandboxes,
            time=time,
            vcs=vcs,
            worktree=worktree,
            icon=icon,
        )

        project.additional_properties = d
        return project

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
