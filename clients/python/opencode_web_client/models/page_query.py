from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.page_query_order import PageQueryOrder
from ..types import UNSET, Unset

T = TypeVar("T", bound="PageQuery")


@_attrs_define
class PageQuery:
    """`cursor` is one that a page gave; it keeps the order of that page.

    Attributes:
        cursor (str | Unset):  Default: ''.
        limit (int | Unset):  Default: 50.
        order (PageQueryOrder | Unset):  Default: PageQueryOrder.DESC.
    """

    cursor: str | Unset = ""
    limit: int | Unset = 50
    order: PageQueryOrder | Unset = PageQueryOrder.DESC
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cursor = self.cursor

        limit = self.limit

        order: str | Unset = UNSET
        if not isinstance(self.order, Unset):
            order = self.order.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if cursor is not UNSET:
            field_dict["cursor"] = cursor
        if limit is not UNSET:
            field_dict["limit"] = limit
        if order is not UNSET:
            field_dict["order"] = order

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        cursor = d.pop("cursor", UNSET)

        limit = d.pop("limit", UNSET)

        _order = d.pop("order", UNSET)
        order: PageQueryOrder | Unset
        if isinstance(_order, Unset):
            order = UNSET
        else:
            order = PageQueryOrder(_order)

        page_query = cls(
            cursor=cursor,
            limit=limit,
            order=order,
        )

        page_query.additional_properties = d
        return page_query

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
