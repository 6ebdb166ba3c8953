from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.o_auth_connection_inputs import OAuthConnectionInputs


T = TypeVar("T", bound="OAuthConnection")


@_attrs_define
class OAuthConnection:
    """Which way to sign in, and the answers to what it asks first.

    Attributes:
        method_id (str):
        inputs (OAuthConnectionInputs | Unset):
        label (str | Unset):  Default: ''.
    """

    method_id: str
    inputs: OAuthConnectionInputs | Unset = UNSET
    label: str | Unset = ""
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        method_id = self.method_id

        inputs: dict[str, Any] | Unset = UNSET
        if not isinstance(self.inputs, Unset):
            inputs = self.inputs.to_dict()

        label = self.label

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "methodID": method_id,
            }
        )
        if inputs is not UNSET:
            field_dict["inputs"] = inputs
        if label is not UNSET:
            field_dict["label"] = label

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.o_auth_connection_inputs import OAuthConnectionInputs

        d = dict(src_dict)
        method_id = d.pop("methodID")

        _inputs = d.pop("inputs", UNSET)
        inputs: OAuthConnectionInputs | Unset
        if isinstance(_inputs, Unset):
            inputs = UNSET
        else:
            inputs = OAuthConnectionInputs.from_dict(_inputs)

        label = d.pop("label", UNSET)

        o_auth_connection = cls(
            method_id=method_id,
            inputs=inputs,
            label=label,
        )

        o_auth_connection.additional_properties = d
        return o_auth_connection

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
