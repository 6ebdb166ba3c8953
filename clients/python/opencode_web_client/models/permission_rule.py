from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.permission_rule_action import PermissionRuleAction

T = TypeVar("T", bound="PermissionRule")


@_attrs_define
class PermissionRule:
    """One rule of a session, after those of its agent. The last one that matches decides.

    Attributes:
        action (PermissionRuleAction):
        pattern (str):
        permission (str):
    """

    action: PermissionRuleAction
    pattern: str
    permission: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action = self.action.value

        pattern = self.pattern

        permission = self.permission

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "pattern": pattern,
                "permission": permission,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        action = PermissionRuleAction(d.pop("action"))

        pattern = d.pop("pattern")

        permission = d.pop("permission")

        permission_rule = cls(
            action=action,
            pattern=pattern,
            permission=permission,
        )

        permission_rule.additional_properties = d
        return permission_rule

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
