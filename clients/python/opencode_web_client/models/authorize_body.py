from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.authorize_body_inputs import AuthorizeBodyInputs


T = TypeVar("T", bound="AuthorizeBody")


@_attrs_define
class AuthorizeBody:
    """Which way to sign in, by its place in the list, and the answers to what it asks first.

    Attributes:
        method (int):
        inputs (AuthorizeBodyInputs | Unset):
    """

    method: int
    inputs: AuthorizeBodyInputs | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        method = self.method

        inputs: dict[str, Any] | Unset = UNSET
        if not isinstance(self.inputs, Unset):
            inputs = self.inputs.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "method": method,
            }
        )
        if inputs is not UNSET:
            field_dict["inputs"] = inputs

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.authorize_body_inputs import AuthorizeBodyInputs

        d = dict(src_dict)
        method = d.pop("method")

        _inputs = d.pop("inputs", UNSET)
        inputs: AuthorizeBodyInputs | Unset
        if isinstance(_inputs, Unset):
            inputs = UNSET
        else:
            inputs = AuthorizeBodyInputs.from_dict(_inputs)

        authorize_body = cls(
            method=method,
            inputs=inputs,
        )

        authorize_body.additional_properties = d
        return authorize_body

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
