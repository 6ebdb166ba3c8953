from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.input_patch_delivery_type_0 import InputPatchDeliveryType0
from ..types import UNSET, Unset

T = TypeVar("T", bound="InputPatch")


@_attrs_define
class InputPatch:
    """Only what is given changes. `revision` is the one that was read.

    Attributes:
        revision (int):
        delivery (InputPatchDeliveryType0 | None | Unset):
        text (None | str | Unset):
    """

    revision: int
    delivery: InputPatchDeliveryType0 | None | Unset = UNSET
    text: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        delivery: None | str | Unset
        if isinstance(self.delivery, Unset):
            delivery = UNSET
        elif isinstance(self.delivery, InputPatchDeliveryType0):
            delivery = self.delivery.value
        else:
            delivery = self.delivery

        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "revision": revision,
            }
        )
        if delivery is not UNSET:
            field_dict["delivery"] = delivery
        if text is not UNSET:
            field_dict["text"] = text

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        revision = d.pop("revision")

        def _parse_delivery(data: object) -> InputPatchDeliveryType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                delivery_type_0 = InputPatchDeliveryType0(data)

                return delivery_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(InputPatchDeliveryType0 | None | Unset, data)

        delivery = _parse_delivery(d.pop("delivery", UNSET))

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        input_patch = cls(
            revision=revision,
            delivery=delivery,
            text=text,
        )

        input_patch.additional_properties = d
        return input_patch

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
