from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.terminal_create_env import TerminalCreateEnv


T = TypeVar("T", bound="TerminalCreate")


@_attrs_define
class TerminalCreate:
    """A program on a terminal; without a command a login shell, in the folder of the project.

    Attributes:
        args (list[str] | Unset):
        command (str | Unset):  Default: ''.
        cwd (str | Unset):  Default: ''.
        env (TerminalCreateEnv | Unset):
        title (str | Unset):  Default: ''.
    """

    args: list[str] | Unset = UNSET
    command: str | Unset = ""
    cwd: str | Unset = ""
    env: TerminalCreateEnv | Unset = UNSET
    title: str | Unset = ""
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        args: list[str] | Unset = UNSET
        if not isinstance(self.args, Unset):
            args = self.args

        command = self.command

        cwd = self.cwd

        env: dict[str, Any] | Unset = UNSET
        if not isinstance(self.env, Unset):
            env = self.env.to_dict()

        title = self.title

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if args is not UNSET:
            field_dict["args"] = args
        if command is not UNSET:
            field_dict["command"] = command
        if cwd is not UNSET:
            field_dict["cwd"] = cwd
        if env is not UNSET:
            field_dict["env"] = env
        if title is not UNSET:
            field_dict["title"] = title

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.terminal_create_env import TerminalCreateEnv

        d = dict(src_dict)
        args = cast(list[str], d.pop("args", UNSET))

        command = d.pop("command", UNSET)

        cwd = d.pop("cwd", UNSET)

        _env = d.pop("env", UNSET)
        env: TerminalCreateEnv | Unset
        if isinstance(_env, Unset):
            env = UNSET
        else:
            env = TerminalCreateEnv.from_dict(_env)

        title = d.pop("title", UNSET)

        terminal_create = cls(
            args=args,
            command=command,
            cwd=cwd,
            env=env,
            title=title,
        )

        terminal_create.additional_properties = d
        return terminal_create

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
