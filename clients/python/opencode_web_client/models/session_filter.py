from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SessionFilter")


@_attrs_define
class SessionFilter:
    """
    Attributes:
        limit (int | Unset):  Default: 100.
        path (None | str | Unset): Sessions of this folder and of those below it; of all when empty.
        roots (bool | Unset):  Default: False.
        scope (Literal['project'] | None | Unset):
        search (str | Unset):  Default: ''.
        start (float | None | Unset):
    """

    limit: int | Unset = 100
    path: None | str | Unset = UNSET
    roots: bool | Unset = False
    scope: Literal["project"] | None | Unset = UNSET
    search: str | Unset = ""
    start: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        limit = self.limit

        path: None | str | Unset
        if isinstance(self.path, Unset):
            path = UNSET
        else:
            path = self.path

        roots = self.roots

        scope: Literal["project"] | None | Unset
        if isinstance(self.scope, Unset):
            scope = UNSET
        else:
            scope = self.scope

        search = self.search

        start: float | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if limit is not UNSET:
            field_dict["limit"] = limit
        if path is not UNSET:
            field_dict["path"] = path
        if roots is not UNSET:
            field_dict["roots"] = roots
        if scope is not UNSET:
            field_dict["scope"] = scope
        if search is not UNSET:
            field_dict["search"] = search
        if start is not UNSET:
            field_dict["start"] = start

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        limit = d.pop("limit", UNSET)

        def _parse_path(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        path = _parse_path(d.pop("path", UNSET))

        roots = d.pop("roots", UNSET)

        def _parse_scope(data: object) -> Literal["project"] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            scope_type_0 = cast(Literal["project"], data)
            if scope_type_0 != "project":
                raise ValueError(
                    f"scope_type_0 must match const 'project', got '{scope_type_0}'"
                )
            return scope_type_0
            return cast(Literal["project"] | None | Unset, data)

        scope = _parse_scope(d.pop("scope", UNSET))

        search = d.pop("search", UNSET)

        def _parse_start(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))

        session_filter = cls(
            limit=limit,
            path=path,
            roots=roots,
            scope=scope,
            search=search,
            start=start,
        )

        session_filter.additional_properties = d
        return session_filter

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
