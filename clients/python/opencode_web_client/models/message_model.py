from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MessageModel")


@_attrs_define
class MessageModel:
    """
    Attributes:
        model_id (str):
        provider_id (str):
        variant (str | Unset):
    """

    model_id: str
    provider_id: str
    variant: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        model_id = self.model_id

        provider_id = self.provider_id

        variant = self.variant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "modelID": model_id,
                "providerID": provider_id,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        model_id = d.pop("modelID")

        provider_id = d.pop("providerID")

        variant = d.pop("variant", UNSET)

        message_model = cls(
            model_id=model_id,
            provider_id=provider_id,
            variant=variant,
        )

        return message_model
