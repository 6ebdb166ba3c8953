from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="GlobalFilter")


@_attrs_define
class GlobalFilter:
    """`cursor` is the `time.updated` of the last one of the page before.

    Attributes:
        archived (bool | Unset):  Default: False.
        cursor (float | None | Unset):
        limit (int | Unset):  Default: 100.
        roots (bool | Unset):  Default: False.
        search (str | Unset):  Default: ''.
        start (float | None | Unset):
    """

    archived: bool | Unset = False
    cursor: float | None | Unset = UNSET
    limit: int | Unset = 100
    roots: bool | Unset = False
    search: str | Unset = ""
    start: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        archived = self.archived

        cursor: float | None | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        else:
            cursor = self.cursor

        limit = self.limit

        roots = self.roots

        search = self.search

        start: float | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if archived is not UNSET:
            field_dict["archived"] = archived
        if cursor is not UNSET:
            field_dict["cursor"] = cursor
        if limit is not UNSET:
            field_dict["limit"] = limit
        if roots is not UNSET:
            field_dict["roots"] = roots
        if search is not UNSET:
            field_dict["search"] = search
        if start is not UNSET:
            field_dict["start"] = start

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        archived = d.pop("archived", UNSET)

        def _parse_cursor(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

        limit = d.pop("limit", UNSET)

        roots = d.pop("roots", UNSET)

        search = d.pop("search", UNSET)

        def _parse_start(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))

        global_filter = cls(
            archived=archived,
            cursor=cursor,
            limit=limit,
            roots=roots,
            search=search,
            start=start,
        )

        global_filter.additional_properties = d
        return global_filter

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
