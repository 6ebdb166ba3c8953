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

T = TypeVar("T", bound="ModelApiV2")


@_attrs_define
class ModelApiV2:
    """
    Attributes:
        id (str):
        package (str):
        type_ (Literal['aisdk']):
        url (str):
    """

    id: str
    package: str
    type_: Literal["aisdk"]
    url: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        package = self.package

        type_ = self.type_

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "package": package,
                "type": type_,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        package = d.pop("package")

        type_ = cast(Literal["aisdk"], d.pop("type"))
        if type_ != "aisdk":
            raise ValueError(f"type must match const 'aisdk', got '{type_}'")

        url = d.pop("url")

        model_api_v2 = cls(
            id=id,
            package=package,
            type_=type_,
            url=url,
        )

        model_api_v2.additional_properties = d
        return model_api_v2

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
