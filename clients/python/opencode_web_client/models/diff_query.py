from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.diff_query_mode import DiffQueryMode
from ..types import UNSET, Unset

T = TypeVar("T", bound="DiffQuery")


@_attrs_define
class DiffQuery:
    """
    Attributes:
        mode (DiffQueryMode):
        context (int | Unset):  Default: 3.
    """

    mode: DiffQueryMode
    context: int | Unset = 3
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        mode = self.mode.value

        context = self.context

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "mode": mode,
            }
        )
        if context is not UNSET:
            field_dict["context"] = context

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        mode = DiffQueryMode(d.pop("mode"))

        context = d.pop("context", UNSET)

        diff_query = cls(
            mode=mode,
            context=context,
        )

        diff_query.additional_properties = d
        return diff_query

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
