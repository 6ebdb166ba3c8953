from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.project_commands import ProjectCommands
    from ..models.project_icon import ProjectIcon


T = TypeVar("T", bound="ProjectPatch")


@_attrs_define
class ProjectPatch:
    """Only what is given changes.

    Attributes:
        commands (None | ProjectCommands | Unset):
        icon (None | ProjectIcon | Unset):
        name (None | str | Unset):
    """

    commands: None | ProjectCommands | Unset = UNSET
    icon: None | ProjectIcon | Unset = UNSET
    name: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.project_commands import ProjectCommands
        from ..models.project_icon import ProjectIcon

        commands: dict[str, Any] | None | Unset
        if isinstance(self.commands, Unset):
            commands = UNSET
        elif isinstance(self.commands, ProjectCommands):
            commands = self.commands.to_dict()
        else:
            commands = self.commands

        icon: dict[str, Any] | None | Unset
        if isinstance(self.icon, Unset):
            icon = UNSET
        elif isinstance(self.icon, ProjectIcon):
            icon = self.icon.to_dict()
        else:
            icon = self.icon

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if commands is not UNSET:
            field_dict["commands"] = commands
        if icon is not UNSET:
            field_dict["icon"] = icon
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.project_commands import ProjectCommands
        from ..models.project_icon import ProjectIcon

        d = dict(src_dict)

        def _parse_commands(data: object) -> None | ProjectCommands | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                commands_type_0 = ProjectCommands.from_dict(data)

                return commands_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProjectCommands | Unset, data)

        commands = _parse_commands(d.pop("commands", UNSET))

        def _parse_icon(data: object) -> None | ProjectIcon | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                icon_type_0 = ProjectIcon.from_dict(data)

                return icon_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ProjectIcon | Unset, data)

        icon = _parse_icon(d.pop("icon", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        project_patch = cls(
            commands=commands,
            icon=icon,
            name=name,
        )

        project_patch.additional_properties = d
        return project_patch

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
