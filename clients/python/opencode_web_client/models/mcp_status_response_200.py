from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.mcp_connected import McpConnected
    from ..models.mcp_disabled import McpDisabled
    from ..models.mcp_failed import McpFailed
    from ..models.mcp_needs_auth import McpNeedsAuth
    from ..models.mcp_needs_registration import McpNeedsRegistration


T = TypeVar("T", bound="McpStatusResponse200")


@_attrs_define
class McpStatusResponse200:
    additional_properties: dict[
        str,
        McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration,
    ] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.mcp_connected import McpConnected
        from ..models.mcp_disabled import McpDisabled
        from ..models.mcp_failed import McpFailed
        from ..models.mcp_needs_auth import McpNeedsAuth

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            if (
                isinstance(prop, McpConnected)
                or isinstance(prop, McpDisabled)
                or isinstance(prop, McpNeedsAuth)
                or isinstance(prop, McpFailed)
            ):
                field_dict[prop_name] = prop.to_dict()
            else:
                field_dict[prop_name] = prop.to_dict()

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.mcp_connected import McpConnected
        from ..models.mcp_disabled import McpDisabled
        from ..models.mcp_failed import McpFailed
        from ..models.mcp_needs_auth import McpNeedsAuth
        from ..models.mcp_needs_registration import McpNeedsRegistration

        d = dict(src_dict)
        mcp_status_response_200 = cls()

        additional_properties = {}
        for prop_name, prop_dict in d.items():

            def _parse_additional_property(
                data: object,
            ) -> (
                McpConnected
                | McpDisabled
                | McpFailed
                | McpNeedsAuth
                | McpNeedsRegistration
            ):
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    additional_property_type_0 = McpConnected.from_dict(data)

                    return additional_property_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    additional_property_type_1 = McpDisabled.from_dict(data)

                    return additional_property_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    additional_property_type_2 = McpNeedsAuth.from_dict(data)

                    return additional_property_type_2
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    additional_property_type_3 = McpFailed.from_dict(data)

                    return additional_property_type_3
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                additional_property_type_4 = McpNeedsRegistration.from_dict(data)

                return additional_property_type_4

            additional_property = _parse_additional_property(prop_dict)

            additional_properties[prop_name] = additional_property

        mcp_status_response_200.additional_properties = additional_properties
        return mcp_status_response_200

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(
        self, key: str
    ) -> McpConnected | McpDisabled | McpFailed | McpNeedsAuth | McpNeedsRegistration:
        return self.additional_properties[key]

    def __setitem__(
        self,
        key: str,
        value: McpConnected
        | McpDisabled
        | McpFailed
        | McpNeedsAuth
        | McpNeedsRegistration,
    ) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
