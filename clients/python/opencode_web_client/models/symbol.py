from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.symbol_place import SymbolPlace


T = TypeVar("T", bound="Symbol")


@_attrs_define
class Symbol:
    """
    Attributes:
        kind (int):
        location (SymbolPlace):
        name (str):
    """

    kind: int
    location: SymbolPlace
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        location = self.location.to_dict()

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "location": location,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.symbol_place import SymbolPlace

        d = dict(src_dict)
        kind = d.pop("kind")

        location = SymbolPlace.from_dict(d.pop("location"))

        name = d.pop("name")

        symbol = cls(
            kind=kind,
            location=location,
            name=name,
        )

        symbol.additional_properties = d
        return symbol

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
