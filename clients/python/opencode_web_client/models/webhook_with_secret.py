from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.created_time import CreatedTime


T = TypeVar("T", bound="WebhookWithSecret")


@_attrs_define
class WebhookWithSecret:
    """
    Attributes:
        disabled_reason (str):
        enabled (bool):
        events (list[str]):
        id (str):
        secret (str):
        time (CreatedTime): Units: milliseconds since the epoch.
        url (str):
        failing_since (int | Unset):
        project_id (str | Unset):
    """

    disabled_reason: str
    enabled: bool
    events: list[str]
    id: str
    secret: str
    time: CreatedTime
    url: str
    failing_since: int | Unset = UNSET
    project_id: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        disabled_reason = self.disabled_reason

        enabled = self.enabled

        events = self.events

        id = self.id

        secret = self.secret

        time = self.time.to_dict()

        url = self.url

        failing_since = self.failing_since

        project_id = self.project_id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "disabledReason": disabled_reason,
                "enabled": enabled,
                "events": events,
                "id": id,
                "secret": secret,
                "time": time,
                "url": url,
            }
        )
        if failing_since is not UNSET:
            field_dict["failingSince"] = failing_since
        if project_id is not UNSET:
            field_dict["projectID"] = project_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.created_time import CreatedTime

        d = dict(src_dict)
        disabled_reason = d.pop("disabledReason")

        enabled = d.pop("enabled")

        events = cast(list[str], d.pop("events"))

        id = d.pop("id")

        secret = d.pop("secret")

        time = CreatedTime.from_dict(d.pop("time"))

        url = d.pop("url")

        failing_since = d.pop("failingSince", UNSET)

        project_id = d.pop("projectID", UNSET)

        webhook_with_secret = cls(
            disabled_reason=disabled_reason,
            enabled=enabled,
            events=events,
            id=id,
            secret=secret,
            time=time,
            url=url,
            failing_since=failing_since,
            project_id=project_id,
        )

        webhook_with_secret.additional_properties = d
        return webhook_with_secret

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
