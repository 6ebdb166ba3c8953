from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.admitted_input_delivery import AdmittedInputDelivery
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.prompt_text import PromptText


T = TypeVar("T", bound="AdmittedInput")


@_attrs_define
class AdmittedInput:
    """
    Attributes:
        admitted_seq (int):
        delivery (AdmittedInputDelivery):
        id (str):
        prompt (PromptText):
        session_id (str):
        time_created (int):
        promoted_seq (int | Unset):
    """

    admitted_seq: int
    delivery: AdmittedInputDelivery
    id: str
    prompt: PromptText
    session_id: str
    time_created: int
    promoted_seq: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        admitted_seq = self.admitted_seq

        delivery = self.delivery.value

        id = self.id

        prompt = self.prompt.to_dict()

        session_id = self.session_id

        time_created = self.time_created

        promoted_seq = self.promoted_seq

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "admittedSeq": admitted_seq,
                "delivery": delivery,
                "id": id,
                "prompt": prompt,
                "sessionID": session_id,
                "timeCreated": time_created,
            }
        )
        if promoted_seq is not UNSET:
            field_dict["promotedSeq"] = promoted_seq

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.prompt_text import PromptText

        d = dict(src_dict)
        admitted_seq = d.pop("admittedSeq")

        delivery = AdmittedInputDelivery(d.pop("delivery"))

        id = d.pop("id")

        prompt = PromptText.from_dict(d.pop("prompt"))

        session_id = d.pop("sessionID")

        time_created = d.pop("timeCreated")

        promoted_seq = d.pop("promotedSeq", UNSET)

        admitted_input = cls(
            admitted_seq=admitted_seq,
            delivery=delivery,
            id=id,
            prompt=prompt,
            session_id=session_id,
            time_created=time_created,
            promoted_seq=promoted_seq,
        )

        admitted_input.additional_properties = d
        return admitted_input

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
