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
    from ..models.part_model import PartModel


T = TypeVar("T", bound="SubtaskPart")


@_attrs_define
class SubtaskPart:
    """What a person gives to a sub-agent. The turn begins with it, before the model is asked.

    Attributes:
        agent (str):
        description (str):
        id (str):
        message_id (str):
        prompt (str):
        session_id (str):
        command (str | Unset):
        model (PartModel | Unset): The model that a part names.
        type_ (Literal['subtask'] | Unset):  Default: 'subtask'.
    """

    agent: str
    description: str
    id: str
    message_id: str
    prompt: str
    session_id: str
    command: str | Unset = UNSET
    model: PartModel | Unset = UNSET
    type_: Literal["subtask"] | Unset = "subtask"

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        description = self.description

        id = self.id

        message_id = self.message_id

        prompt = self.prompt

        session_id = self.session_id

        command = self.command

        model: dict[str, Any] | Unset = UNSET
        if not isinstance(self.model, Unset):
            model = self.model.to_dict()

        type_ = self.type_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent": agent,
                "description": description,
                "id": id,
                "messageID": message_id,
                "prompt": prompt,
                "sessionID": session_id,
            }
        )
        if command is not UNSET:
            field_dict["command"] = command
        if model is not UNSET:
            field_dict["model"] = model
        if type_ is not UNSET:
            field_dict["type"] = type_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.part_model import PartModel

        d = dict(src_dict)
        agent = d.pop("agent")

        description = d.pop("description")

        id = d.pop("id")

        message_id = d.pop("messageID")

        prompt = d.pop("prompt")

        session_id = d.pop("sessionID")

        command = d.pop("command", UNSET)

        _model = d.pop("model", UNSET)
        model: PartModel | Unset
        if isinstance(_model, Unset):
            model = UNSET
        else:
            model = PartModel.from_dict(_model)

        type_ = cast(Literal["subtask"] | Unset, d.pop("type", UNSET))
        if type_ != "subtask" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'subtask', got '{type_}'")

        subtask_part = cls(
            agent=agent,
            description=description,
            id=id,
            message_id=message_id,
            prompt=prompt,
            session_id=session_id,
            command=command,
            model=model,
            type_=type_,
        )

        return subtask_part
