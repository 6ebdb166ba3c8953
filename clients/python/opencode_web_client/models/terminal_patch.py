from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.terminal_size import TerminalSize


T = TypeVar("T", bound="TerminalPatch")


@_attrs_define
class TerminalPatch:
    """Only what is given changes.

    Attributes:
        size (None | TerminalSize | Unset):
        title (str | Unset):  Default: ''.
        watchable (bool | None | Unset):
    """

    size: None | TerminalSize | Unset = UNSET
    title: str | Unset = ""
    watchable: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.terminal_size import TerminalSize

        size: dict[str, Any] | None | Unset
        if isinstance(self.size, Unset):
            size = UNSET
        elif isinstance(self.size, TerminalSize):
            size = self.size.to_dict()
        else:
            size = self.size

        title = self.title

        watchable: bool | None | Unset
        if isinstance(self.watchable, Unset):
            watchable = UNSET
        else:
            watchable = self.watchable

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if size is not UNSET:
            field_dict["size"] = size
        if title is not UNSET:
            field_dict["title"] = title
        if watchable is not UNSET:
            field_dict["watchable"] = watchable

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.terminal_size import TerminalSize

        d = dict(src_dict)

        def _parse_size(data: object) -> None | TerminalSize | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                size_type_0 = TerminalSize.from_dict(data)

                return size_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TerminalSize | Unset, data)

        size = _parse_size(d.pop("size", UNSET))

        title = d.pop("title", UNSET)

        def _parse_watchable(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        watchable = _parse_watchable(d.pop("watchable", UNSET))

        terminal_patch = cls(
            size=size,
            title=title,
            watchable=watchable,
        )

        terminal_patch.additional_properties = d
        return terminal_patch

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
