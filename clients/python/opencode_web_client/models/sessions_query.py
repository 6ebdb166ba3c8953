from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.sessions_query_order import SessionsQueryOrder
from ..types import UNSET, Unset

T = TypeVar("T", bound="SessionsQuery")


@_attrs_define
class SessionsQuery:
    """`project` is an id; a directory is named as everywhere.

    Attributes:
        cursor (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 50.
        order (SessionsQueryOrder | Unset):  Default: SessionsQueryOrder.DESC.
        search (str | Unset):  Default: ''.
        subpath (str | Unset): Folder of the project; those below it count too. Default: ''.
    """

    cursor: str | Unset = ""
    limit: int | Unset = 50
    order: SessionsQueryOrder | Unset = SessionsQueryOrder.DESC
    search: str | Unset = ""
    subpath: str | Unset = ""
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cursor = self.cursor

        limit = self.limit

        order: str | Unset = UNSET
        if not isinstance(self.order, Unset):
            order = self.order.value

        search = self.search

        subpath = self.subpath

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if cursor is not UNSET:
            field_dict["cursor"] = cursor
        if limit is not UNSET:
            field_dict["limit"] = limit
        if order is not UNSET:
            field_dict["order"] = order
        if search is not UNSET:
            field_dict["search"] = search
        if subpath is not UNSET:
            field_dict["subpath"] = subpath

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        cursor = d.pop("cursor", UNSET)

        limit = d.pop("limit", UNSET)

        _order = d.pop("order", UNSET)
        order: SessionsQueryOrder | Unset
        if isinstance(_order, Unset):
            order = UNSET
        else:
            order = SessionsQueryOrder(_order)

        search = d.pop("search", UNSET)

        subpath = d.pop("subpath", UNSET)

        sessions_query = cls(
            cursor=cursor,
            limit=limit,
            order=order,
            search=search,
            subpath=subpath,
        )

        sessions_query.additional_properties = d
        return sessions_query

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
