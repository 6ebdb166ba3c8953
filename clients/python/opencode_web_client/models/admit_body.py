from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admit_body_delivery import AdmitBodyDelivery
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.prompt_input import PromptInput


T = TypeVar("T", bound="AdmitBody")


@_attrs_define
class AdmitBody:
    """A prompt that is only admitted; with `resume` false not even the session is woken.

    Attributes:
        prompt (PromptInput): A prompt in the second version of the API.
        delivery (AdmitBodyDelivery | Unset):  Default: AdmitBodyDelivery.STEER.
        id (None | str | Unset):
        resume (bool | Unset):  Default: True.
    """

    prompt: PromptInput
    delivery: AdmitBodyDelivery | Unset = AdmitBodyDelivery.STEER
    id: None | str | Unset = UNSET
    resume: bool | Unset = True
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        prompt = self.prompt.to_dict()

        delivery: str | Unset = UNSET
        if not isinstance(self.delivery, Unset):
            delivery = self.delivery.value

        id: None | str | Unset
        if isinstance(self.id, Unset):
            id = UNSET
        else:
            id = self.id

        resume = self.resume

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "prompt": prompt,
            }
        )
        if delivery is not UNSET:
            field_dict["delivery"] = delivery
        if id is not UNSET:
            field_dict["id"] = id
        if resume is not UNSET:
            field_dict["resume"] = resume

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prompt_input import PromptInput

        d = dict(src_dict)
        prompt = PromptInput.from_dict(d.pop("prompt"))

        _delivery = d.pop("delivery", UNSET)
        delivery: AdmitBodyDelivery | Unset
        if isinstance(_delivery, Unset):
            delivery = UNSET
        else:
            delivery = AdmitBodyDelivery(_delivery)

        def _parse_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        id = _parse_id(d.pop("id", UNSET))

        resume = d.pop("resume", UNSET)

        admit_body = cls(
            prompt=prompt,
            delivery=delivery,
            id=id,
            resume=resume,
        )

        admit_body.additional_properties = d
        return admit_body

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
