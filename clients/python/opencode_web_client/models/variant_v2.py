from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.variant_v2_body import VariantV2Body
    from ..models.variant_v2_headers import VariantV2Headers


T = TypeVar("T", bound="VariantV2")


@_attrs_define
class VariantV2:
    """
    Attributes:
        body (VariantV2Body):
        headers (VariantV2Headers):
        id (str):
    """

    body: VariantV2Body
    headers: VariantV2Headers
    id: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        body = self.body.to_dict()

        headers = self.headers.to_dict()

        id = self.id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "body": body,
                "headers": headers,
                "id": id,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.variant_v2_body import VariantV2Body
        from ..models.variant_v2_headers import VariantV2Headers

        d = dict(src_dict)
        body = VariantV2Body.from_dict(d.pop("body"))

        headers = VariantV2Headers.from_dict(d.pop("headers"))

        id = d.pop("id")

        variant_v2 = cls(
            body=body,
            headers=headers,
            id=id,
        )

        variant_v2.additional_properties = d
        return variant_v2

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
