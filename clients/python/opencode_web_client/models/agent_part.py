from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.agent_part_source import AgentPartSource


T = TypeVar("T", bound="AgentPart")


@_attrs_define
class AgentPart:
    """
    Attributes:
        id (str):
        message_id (str):
        name (str):
        session_id (str):
        source (AgentPartSource | Unset):
        type_ (Literal['agent'] | Unset):  Default: 'agent'.
    """

    id: str
    message_id: str
    name: str
    session_id: str
    source: AgentPartSource | Unset = UNSET
    type_: Literal["agent"] | Unset = "agent"

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        message_id = self.message_id

        name = self.name

        session_id = self.session_id

        source: dict[str, Any] | Unset = UNSET
        if not isinstance(self.source, Unset):
            source = self.source.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "messageID": message_id,
                "name": name,
                "sessionID": session_id,
            }
        )
        if source is not UNSET:
            field_dict["source"] = source
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.agent_part_source import AgentPartSource

        d = dict(src_dict)
        id = d.pop("id")

        message_id = d.pop("messageID")

        name = d.pop("name")

        session_id = d.pop("sessionID")

        _source = d.pop("source", UNSET)
        source: AgentPartSource | Unset
        if isinstance(_source, Unset):
            source = UNSET
        else:
            source = AgentPartSource.from_dict(_source)

        type_ = cast(Literal["agent"] | Unset, d.pop("type", UNSET))
        if type_ != "agent" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'agent', got '{type_}'")

        agent_part = cls(
            id=id,
            message_id=message_id,
            name=name,
            session_id=session_id,
            source=source,
            type_=type_,
        )

        return agent_part
