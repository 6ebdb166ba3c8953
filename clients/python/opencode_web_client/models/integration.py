from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.key_method import KeyMethod
    from ..models.key_of_team import KeyOfTeam
    from ..models.o_auth_method import OAuthMethod


T = TypeVar("T", bound="Integration")


@_attrs_define
class Integration:
    """
    Attributes:
        connections (list[KeyOfTeam]):
        id (str):
        methods (list[KeyMethod | OAuthMethod]):
        name (str):
    """

    connections: list[KeyOfTeam]
    id: str
    methods: list[KeyMethod | OAuthMethod]
    name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.key_method import KeyMethod

        connections = []
        for connections_item_data in self.connections:
            connections_item = connections_item_data.to_dict()
            connections.append(connections_item)

        id = self.id

        methods = []
        for methods_item_data in self.methods:
            methods_item: dict[str, Any]
            if isinstance(methods_item_data, KeyMethod):
                methods_item = methods_item_data.to_dict()
            else:
                methods_item = methods_item_data.to_dict()

            methods.append(methods_item)

        name = self.name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "connections": connections,
                "id": id,
                "methods": methods,
                "name": name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.key_method import KeyMethod
        from ..models.key_of_team import KeyOfTeam
        from ..models.o_auth_method import OAuthMethod

        d = dict(src_dict)
        connections = []
        _connections = d.pop("connections")
        for connections_item_data in _connections:
            connections_item = KeyOfTeam.from_dict(connections_item_data)

            connections.append(connections_item)

        id = d.pop("id")

        methods = []
        _methods = d.pop("methods")
        for methods_item_data in _methods:

            def _parse_methods_item(data: object) -> KeyMethod | OAuthMethod:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    methods_item_type_0 = KeyMethod.from_dict(data)

                    return methods_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                methods_item_type_1 = OAuthMethod.from_dict(data)

                return methods_item_type_1

            methods_item = _parse_methods_item(methods_item_data)

            methods.append(methods_item)

        name = d.pop("name")

        integration = cls(
            connections=connections,
            id=id,
            methods=methods,
            name=name,
        )

        integration.additional_properties = d
        return integration

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
