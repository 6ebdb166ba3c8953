from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.attempt_mode import AttemptMode

if TYPE_CHECKING:
    from ..models.attempt_time import AttemptTime


T = TypeVar("T", bound="Attempt")


@_attrs_define
class Attempt:
    """
    Attributes:
        attempt_id (str):
        instructions (str):
        mode (AttemptMode):
        time (AttemptTime):
        url (str):
    """

    attempt_id: str
    instructions: str
    mode: AttemptMode
    time: AttemptTime
    url: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        attempt_id = self.attempt_id

        instructions = self.instructions

        mode = self.mode.value

        time = self.time.to_dict()

        url = self.url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "attemptID": attempt_id,
                "instructions": instructions,
                "mode": mode,
                "time": time,
                "url": url,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_time import AttemptTime

        d = dict(src_dict)
        attempt_id = d.pop("attemptID")

        instructions = d.pop("instructions")

        mode = AttemptMode(d.pop("mode"))

        time = AttemptTime.from_dict(d.pop("time"))

        url = d.pop("url")

        attempt = cls(
            attempt_id=attempt_id,
            instructions=instructions,
            mode=mode,
            time=time,
            url=url,
        )

        attempt.additional_properties = d
        return attempt

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
