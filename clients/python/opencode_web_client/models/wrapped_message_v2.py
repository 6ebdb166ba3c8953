from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.assistant_message_v2 import AssistantMessageV2
    from ..models.compaction_v2 import CompactionV2
    from ..models.user_message_v2 import UserMessageV2


T = TypeVar("T", bound="WrappedMessageV2")


@_attrs_define
class WrappedMessageV2:
    """
    Attributes:
        data (AssistantMessageV2 | CompactionV2 | UserMessageV2): One of three, told apart by `type`.
    """

    data: AssistantMessageV2 | CompactionV2 | UserMessageV2
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.assistant_message_v2 import AssistantMessageV2
        from ..models.user_message_v2 import UserMessageV2

        data: dict[str, Any]
        if isinstance(self.data, UserMessageV2) or isinstance(
            self.data, AssistantMessageV2
        ):
            data = self.data.to_dict()
        else:
            data = self.data.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.assistant_message_v2 import AssistantMessageV2
        from ..models.compaction_v2 import CompactionV2
        from ..models.user_message_v2 import UserMessageV2

        d = dict(src_dict)

        def _parse_data(
            data: object,
        ) -> AssistantMessageV2 | CompactionV2 | UserMessageV2:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_message_v2_type_0 = UserMessageV2.from_dict(data)

                return componentsschemas_message_v2_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_message_v2_type_1 = AssistantMessageV2.from_dict(data)

                return componentsschemas_message_v2_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_message_v2_type_2 = CompactionV2.from_dict(data)

            return componentsschemas_message_v2_type_2

        data = _parse_data(d.pop("data"))

        wrapped_message_v2 = cls(
            data=data,
        )

        wrapped_message_v2.additional_properties = d
        return wrapped_message_v2

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
