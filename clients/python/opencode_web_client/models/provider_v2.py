from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.extra_of_request import ExtraOfRequest
    from ..models.provider_api_v2 import ProviderApiV2


T = TypeVar("T", bound="ProviderV2")


@_attrs_define
class ProviderV2:
    """
    Attributes:
        api (ProviderApiV2):
        id (str):
        integration_id (str):
        name (str):
        request (ExtraOfRequest):
    """

    api: ProviderApiV2
    id: str
    integration_id: str
    name: str
    request: ExtraOfRequest
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api = self.api.to_dict()

        id = self.id

        integration_id = self.integration_id

        name = self.name

        request = self.request.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api": api,
                "id": id,
                "integrationID": integration_id,
                "name": name,
                "request": request,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.extra_of_request import ExtraOfRequest
        from ..models.provider_api_v2 import ProviderApiV2

        d = dict(src_dict)
        api = ProviderApiV2.from_dict(d.pop("api"))

        id = d.pop("id")

        integration_id = d.pop("integrationID")

        name = d.pop("name")

        request = ExtraOfRequest.from_dict(d.pop("request"))

        provider_v2 = cls(
            api=api,
            id=id,
            integration_id=integration_id,
            name=name,
            request=request,
        )

        provider_v2.additional_properties = d
        return provider_v2

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
