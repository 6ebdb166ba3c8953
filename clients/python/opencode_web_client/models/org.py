from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Org")


@_attrs_define
class Org:
    """
    Attributes:
        account_email (str):
        account_id (str):
        account_url (str):
        active (bool):
        org_id (str):
        org_name (str):
    """

    account_email: str
    account_id: str
    account_url: str
    active: bool
    org_id: str
    org_name: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        account_email = self.account_email

        account_id = self.account_id

        account_url = self.account_url

        active = self.active

        org_id = self.org_id

        org_name = self.org_name

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "accountEmail": account_email,
                "accountID": account_id,
                "accountUrl": account_url,
                "active": active,
                "orgID": org_id,
                "orgName": org_name,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        account_email = d.pop("accountEmail")

        account_id = d.pop("accountID")

        account_url = d.pop("accountUrl")

        active = d.pop("active")

        org_id = d.pop("orgID")

        org_name = d.pop("orgName")

        org = cls(
            account_email=account_email,
            account_id=account_id,
            account_url=account_url,
            active=active,
            org_id=org_id,
            org_name=org_name,
        )

        org.additional_properties = d
        return org

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
