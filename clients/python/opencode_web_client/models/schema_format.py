from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.schema_format_schema import SchemaFormatSchema


T = TypeVar("T", bound="SchemaFormat")


@_attrs_define
class SchemaFormat:
    """
    Attributes:
        schema (SchemaFormatSchema):
        type_ (Literal['json_schema']):
    """

    schema: SchemaFormatSchema
    type_: Literal["json_schema"]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        schema = self.schema.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "schema": schema,
                "type": type_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.schema_format_schema import SchemaFormatSchema

        d = dict(src_dict)
        schema = SchemaFormatSchema.from_dict(d.pop("schema"))

        type_ = cast(Literal["json_schema"], d.pop("type"))
        if type_ != "json_schema":
            raise ValueError(f"type must match const 'json_schema', got '{type_}'")

        schema_format = cls(
            schema=schema,
            type_=type_,
        )

        schema_format.additional_properties = d
        return schema_format

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
