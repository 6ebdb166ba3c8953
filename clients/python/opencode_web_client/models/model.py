from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.model_status import ModelStatus
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.capabilities import Capabilities
    from ..models.cost import Cost
    from ..models.model_api import ModelApi
    from ..models.model_headers import ModelHeaders
    from ..models.model_limit import ModelLimit
    from ..models.model_options import ModelOptions
    from ..models.model_variants import ModelVariants


T = TypeVar("T", bound="Model")


@_attrs_define
class Model:
    """
    Attributes:
        api (ModelApi):
        capabilities (Capabilities):
        cost (Cost): Units: USD per million tokens.
        headers (ModelHeaders):
        id (str):
        limit (ModelLimit): Units: tokens.
        name (str):
        options (ModelOptions):
        provider_id (str):
        release_date (str):
        status (ModelStatus):
        family (str | Unset):
        variants (ModelVariants | Unset):
    """

    api: ModelApi
    capabilities: Capabilities
    cost: Cost
    headers: ModelHeaders
    id: str
    limit: ModelLimit
    name: str
    options: ModelOptions
    provider_id: str
    release_date: str
    status: ModelStatus
    family: str | Unset = UNSET
    variants: ModelVariants | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        api = self.api.to_dict()

        capabilities = self.capabilities.to_dict()

        cost = self.cost.to_dict()

        headers = self.headers.to_dict()

        id = self.id

        limit = self.limit.to_dict()

        name = self.name

        options = self.options.to_dict()

        provider_id = self.provider_id

        release_date = self.release_date

        status = self.status.value

        family = self.family

        variants: dict[str, Any] | Unset = UNSET
        if not isinstance(self.variants, Unset):
            variants = self.variants.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "api": api,
                "capabilities": capabilities,
                "cost": cost,
                "headers": headers,
                "id": id,
                "limit": limit,
                "name": name,
                "options": options,
                "providerID": provider_id,
                "release_date": release_date,
                "status": status,
            }
        )
        if family is not UNSET:
            field_dict["family"] = family
        if variants is not UNSET:
            field_dict["variants"] = variants

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.capabilities import Capabilities
        from ..models.cost import Cost
        from ..models.model_api import ModelApi
        from ..models.model_headers import ModelHeaders
        from ..models.model_limit import ModelLimit
        from ..models.model_options import ModelOptions
        from ..models.model_variants import ModelVariants

        d = dict(src_dict)
        api = ModelApi.from_dict(d.pop("api"))

        capabilities = Capabilities.from_dict(d.pop("capabilities"))

        cost = Cost.from_dict(d.pop("cost"))

        headers = ModelHeaders.from_dict(d.pop("headers"))

        id = d.pop("id")

        limit = ModelLimit.from_dict(d.pop("limit"))

        name = d.pop("name")

        options = ModelOptions.from_dict(d.pop("options"))

        provider_id = d.pop("providerID")

        release_date = d.pop("release_date")

        status = ModelStatus(d.pop("status"))

        family = d.pop("family", UNSET)

        _variants = d.pop("variants", UNSET)
        variants: ModelVariants | Unset
        if isinstance(_variants, Unset):
            variants = UNSET
        else:
            variants = ModelVariants.from_dict(_variants)

        model = cls(
            api=api,
            capabilities=capabilities,
            cost=cost,
            headers=headers,
            id=id,
            limit=limit,
            name=name,
            options=options,
            provider_id=provider_id,
            release_date=release_date,
            status=status,
            family=family,
            variants=variants,
        )

        model.additional_properties = d
        return model

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
