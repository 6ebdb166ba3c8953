from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.model_v2_status import ModelV2Status
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.capabilities_v2 import CapabilitiesV2
    from ..models.cost_v2 import CostV2
    from ..models.extra_of_request import ExtraOfRequest
    from ..models.limit_v2 import LimitV2
    from ..models.model_api_v2 import ModelApiV2
    from ..models.released import Released
    from ..models.variant_v2 import VariantV2


T = TypeVar("T", bound="ModelV2")


@_attrs_define
class ModelV2:
    """
    Attributes:
        api (ModelApiV2):
        capabilities (CapabilitiesV2):
        cost (list[CostV2]):
        enabled (bool):
        id (str):
        limit (LimitV2): Units: tokens.
        name (str):
        provider_id (str):
        request (ExtraOfRequest):
        status (ModelV2Status):
        time (Released):
        variants (list[VariantV2]):
        family (str | Unset):
    """

    api: ModelApiV2
    capabilities: CapabilitiesV2
    cost: list[CostV2]
    enabled: bool
    id: str
    limit: LimitV2
    name: str
    provider_id: str
    request: ExtraOfRequest
    status: ModelV2Status
    time: Released
    variants: list[VariantV2]
    family: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api = self.api.to_dict()

        capabilities = self.capabilities.to_dict()

        cost = []
        for cost_item_data in self.cost:
            cost_item = cost_item_data.to_dict()
            cost.append(cost_item)

        enabled = self.enabled

        id = self.id

        limit = self.limit.to_dict()

        name = self.name

        provider_id = self.provider_id

        request = self.request.to_dict()

        status = self.status.value

        time = self.time.to_dict()

        variants = []
        for variants_item_data in self.variants:
            variants_item = variants_item_data.to_dict()
            variants.append(variants_item)

        family = self.family

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api": api,
                "capabilities": capabilities,
                "cost": cost,
                "enabled": enabled,
                "id": id,
                "limit": limit,
                "name": name,
                "providerID": provider_id,
                "request": request,
                "status": status,
                "time": time,
                "variants": variants,
            }
        )
        if family is not UNSET:
            field_dict["family"] = family

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.capabilities_v2 import CapabilitiesV2
        from ..models.cost_v2 import CostV2
        from ..models.extra_of_request import ExtraOfRequest
        from ..models.limit_v2 import LimitV2
        from ..models.model_api_v2 import ModelApiV2
        from ..models.released import Released
        from ..models.variant_v2 import VariantV2

        d = dict(src_dict)
        api = ModelApiV2.from_dict(d.pop("api"))

        capabilities = CapabilitiesV2.from_dict(d.pop("capabilities"))

        cost = []
        _cost = d.pop("cost")
        for cost_item_data in _cost:
            cost_item = CostV2.from_dict(cost_item_data)

            cost.append(cost_item)

        enabled = d.pop("enabled")

        id = d.pop("id")

        limit = LimitV2.from_dict(d.pop("limit"))

        name = d.pop("name")

        provider_id = d.pop("providerID")

        request = ExtraOfRequest.from_dict(d.pop("request"))

        status = ModelV2Status(d.pop("status"))

        time = Released.from_dict(d.pop("time"))

        variants = []
        _variants = d.pop("variants")
        for variants_item_data in _variants:
            variants_item = VariantV2.from_dict(variants_item_data)

            variants.append(variants_item)

        family = d.pop("family", UNSET)

        model_v2 = cls(
            api=api,
            capabilities=capabilities,
            cost=cost,
            enabled=enabled,
            id=id,
            limit=limit,
            name=name,
            provider_id=provider_id,
            request=request,
            status=status,
            time=time,
            variants=variants,
            family=family,
        )

        model_v2.additional_properties = d
        return model_v2

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
