from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.provider import Provider
    from ..models.providers_default import ProvidersDefault


T = TypeVar("T", bound="Providers")


@_attrs_define
class Providers:
    """
    Attributes:
        all_ (list[Provider]):
        connected (list[str]):
        default (ProvidersDefault):
    """

    all_: list[Provider]
    connected: list[str]
    default: ProvidersDefault
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        all_ = []
        for all_item_data in self.all_:
            all_item = all_item_data.to_dict()
            all_.append(all_item)

        connected = self.connected

        default = self.default.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "all": all_,
                "connected": connected,
                "default": default,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.provider import Provider
        from ..models.providers_default import ProvidersDefault

        d = dict(src_dict)
        all_ = []
        _all_ = d.pop("all")
        for all_item_data in _all_:
            all_item = Provider.from_dict(all_item_data)

            all_.append(all_item)

        connected = cast(list[str], d.pop("connected"))

        default = ProvidersDefault.from_dict(d.pop("default"))

        providers = cls(
            all_=all_,
            connected=connected,
            default=default,
        )

        providers.additional_properties = d
        return providers

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
