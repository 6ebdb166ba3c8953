from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.log_body_level import LogBodyLevel
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.log_body_extra_type_0 import LogBodyExtraType0


T = TypeVar("T", bound="LogBody")


@_attrs_define
class LogBody:
    """A line for the server's log.

    Attributes:
        level (LogBodyLevel):
        message (str):
        service (str):
        extra (LogBodyExtraType0 | None | Unset):
    """

    level: LogBodyLevel
    message: str
    service: str
    extra: LogBodyExtraType0 | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.log_body_extra_type_0 import LogBodyExtraType0

        level = self.level.value

        message = self.message

        service = self.service

        extra: dict[str, Any] | None | Unset
        if isinstance(self.extra, Unset):
            extra = UNSET
        elif isinstance(self.extra, LogBodyExtraType0):
            extra = self.extra.to_dict()
        else:
            extra = self.extra

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "level": level,
                "message": message,
                "service": service,
            }
        )
        if extra is not UNSET:
            field_dict["extra"] = extra

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.log_body_extra_type_0 import LogBodyExtraType0

        d = dict(src_dict)
        level = LogBodyLevel(d.pop("level"))

        message = d.pop("message")

        service = d.pop("service")

        def _parse_extra(data: object) -> LogBodyExtraType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                extra_type_0 = LogBodyExtraType0.from_dict(data)

                return extra_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LogBodyExtraType0 | None | Unset, data)

        extra = _parse_extra(d.pop("extra", UNSET))

        log_body = cls(
            level=level,
            message=message,
            service=service,
            extra=extra,
        )

        log_body.additional_properties = d
        return log_body

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
