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
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.message_time_v2 import MessageTimeV2
    from ..models.prompt_agent import PromptAgent
    from ..models.prompt_file import PromptFile


T = TypeVar("T", bound="UserMessageV2")


@_attrs_define
class UserMessageV2:
    """
    Attributes:
        id (str):
        text (str):
        time (MessageTimeV2):
        type_ (Literal['user']):
        agents (list[PromptAgent] | Unset):
        files (list[PromptFile] | Unset):
    """

    id: str
    text: str
    time: MessageTimeV2
    type_: Literal["user"]
    agents: list[PromptAgent] | Unset = UNSET
    files: list[PromptFile] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        text = self.text

        time = self.time.to_dict()

        type_ = self.type_

        agents: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.agents, Unset):
            agents = []
            for agents_item_data in self.agents:
                agents_item = agents_item_data.to_dict()
                agents.append(agents_item)

        files: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.files, Unset):
            files = []
            for files_item_data in self.files:
                files_item = files_item_data.to_dict()
                files.append(files_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "text": text,
                "time": time,
                "type": type_,
            }
        )
        if agents is not UNSET:
            field_dict["agents"] = agents
        if files is not UNSET:
            field_dict["files"] = files

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_time_v2 import MessageTimeV2
        from ..models.prompt_agent import PromptAgent
        from ..models.prompt_file import PromptFile

        d = dict(src_dict)
        id = d.pop("id")

        text = d.pop("text")

        time = MessageTimeV2.from_dict(d.pop("time"))

        type_ = cast(Literal["user"], d.pop("type"))
        if type_ != "user":
            raise ValueError(f"type must match const 'user', got '{type_}'")

        _agents = d.pop("agents", UNSET)
        agents: list[PromptAgent] | Unset = UNSET
        if _agents is not UNSET:
            agents = []
            for agents_item_data in _agents:
                agents_item = PromptAgent.from_dict(agents_item_data)

                agents.append(agents_item)

        _files = d.pop("files", UNSET)
        files: list[PromptFile] | Unset = UNSET
        if _files is not UNSET:
            files = []
            for files_item_data in _files:
                files_item = PromptFile.from_dict(files_item_data)

                files.append(files_item)

        user_message_v2 = cls(
            id=id,
            text=text,
            time=time,
            type_=type_,
            agents=agents,
            files=files,
        )

        user_message_v2.additional_properties = d
        return user_message_v2

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
