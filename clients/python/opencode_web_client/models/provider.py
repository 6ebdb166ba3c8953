from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.provider_source import ProviderSource

if TYPE_CHECKING:
    from ..models.provider_models import ProviderModels
    from ..models.provider_options import ProviderOptions


T = TypeVar("T", bound="Provider")


@_attrs_define
class Provider:
    """
    Attributes:
        env (list[str]):
        id (str):
        models (ProviderModels):
        name (str):
        options (ProviderOptions):
        source (ProviderSource):
    """

    env: list[str]
    id: str
    models: ProviderModels
    name: str
    options: ProviderOptions
    source: ProviderSource
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        env = self.env

        id = self.id

        models = self.models.to_dict()

        name = self.name

        options = self.options.to_dict()

        source = self.source.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "env": env,
                "id": id,
                "models": models,
                "name": name,
                "options": options,
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.provider_models import ProviderModels
        from ..models.provider_options import ProviderOptions

        d = dict(src_dict)
        env = cast(list[str], d.pop("env"))

        id = d.pop("id")

        models = ProviderModels.from_dict(d.pop("models"))

        name = d.pop("name")

        options = ProviderOptions.from_dict(d.pop("options"))

        source = ProviderSource(d.pop("source"))

        provider = cls(
            env=env,
            id=id,
            models=models,
            name=name,
            options=options,
            source=source,
        )

        provider.additional_properties = d
        return provider

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
