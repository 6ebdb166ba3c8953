from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.import_body_info import ImportBodyInfo


T = TypeVar("T", bound="ImportBody")


@_attrs_define
class ImportBody:
    """An exported session.

    Attributes:
        info (ImportBodyInfo):
        messages (list[Any]):
    """

    info: ImportBodyInfo
    messages: list[Any]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        info = self.info.to_dict()

        messages = self.messages

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "info": info,
                "messages": messages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.import_body_info import ImportBodyInfo

        d = dict(src_dict)
        info = ImportBodyInfo.from_dict(d.pop("info"))

        messages = cast(list[Any], d.pop("messages"))

        import_body = cls(
            info=info,
            messages=messages,
        )

        import_body.additional_properties = d
        return import_body

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
