from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.extra_of_request_body import ExtraOfRequestBody
    from ..models.extra_of_request_headers import ExtraOfRequestHeaders


T = TypeVar("T", bound="ExtraOfRequest")


@_attrs_define
class ExtraOfRequest:
    """
    Attributes:
        body (ExtraOfRequestBody):
        headers (ExtraOfRequestHeaders):
    """

    body: ExtraOfRequestBody
    headers: ExtraOfRequestHeaders
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        body = self.body.to_dict()

        headers = self.headers.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "body": body,
                "headers": headers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.extra_of_request_body import ExtraOfRequestBody
        from ..models.extra_of_request_headers import ExtraOfRequestHeaders

        d = dict(src_dict)
        body = ExtraOfRequestBody.from_dict(d.pop("body"))

        headers = ExtraOfRequestHeaders.from_dict(d.pop("headers"))

        extra_of_request = cls(
            body=body,
            headers=headers,
        )

        extra_of_request.additional_properties = d
        return extra_of_request

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
