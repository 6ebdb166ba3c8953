from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.replay_body_events_item import ReplayBodyEventsItem


T = TypeVar("T", bound="ReplayBody")


@_attrs_define
class ReplayBody:
    """Events of another server.

    Attributes:
        directory (str):
        events (list[ReplayBodyEventsItem]):
    """

    directory: str
    events: list[ReplayBodyEventsItem]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        directory = self.directory

        events = []
        for events_item_data in self.events:
            events_item = events_item_data.to_dict()
            events.append(events_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "directory": directory,
                "events": events,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.replay_body_events_item import ReplayBodyEventsItem

        d = dict(src_dict)
        directory = d.pop("directory")

        events = []
        _events = d.pop("events")
        for events_item_data in _events:
            events_item = ReplayBodyEventsItem.from_dict(events_item_data)

            events.append(events_item)

        replay_body = cls(
            directory=directory,
            events=events,
        )

        replay_body.additional_properties = d
        return replay_body

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
