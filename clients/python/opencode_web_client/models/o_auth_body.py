from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.o_auth_body_inputs_type_0 import OAuthBodyInputsType0


T = TypeVar("T", bound="OAuthBody")


@_attrs_define
class OAuthBody:
    """Which way to sign in, by its place in the list.

    Attributes:
        method (float):
        code (None | str | Unset):
        inputs (None | OAuthBodyInputsType0 | Unset):
    """

    method: float
    code: None | str | Unset = UNSET
    inputs: None | OAuthBodyInputsType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.o_auth_body_inputs_type_0 import OAuthBodyInputsType0

        method = self.method

        code: None | str | Unset
        if isinstance(self.code, Unset):
            code = UNSET
        else:
            code = self.code

        inputs: dict[str, Any] | None | Unset
        if isinstance(self.inputs, Unset):
            inputs = UNSET
        elif isinstance(self.inputs, OAuthBodyInputsType0):
            inputs = self.inputs.to_dict()
        else:
            inputs = self.inputs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "method": method,
            }
        )
        if code is not UNSET:
            field_dict["code"] = code
        if inputs is not UNSET:
            field_dict["inputs"] = inputs

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.o_auth_body_inputs_type_0 import OAuthBodyInputsType0

        d = dict(src_dict)
        method = d.pop("method")

        def _parse_code(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        code = _parse_code(d.pop("code", UNSET))

        def _parse_inputs(data: object) -> None | OAuthBodyInputsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                inputs_type_0 = OAuthBodyInputsType0.from_dict(data)

                return inputs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OAuthBodyInputsType0 | Unset, data)

        inputs = _parse_inputs(d.pop("inputs", UNSET))

        o_auth_body = cls(
            method=method,
            code=code,
            inputs=inputs,
        )

        o_auth_body.additional_properties = d
        return o_auth_body

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
