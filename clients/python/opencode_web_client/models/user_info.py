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
    from ..models.message_model import MessageModel
    from ..models.message_time import MessageTime
    from ..models.prompt_summary import PromptSummary
    from ..models.schema_format import SchemaFormat
    from ..models.text_format import TextFormat
    from ..models.user_info_tools import UserInfoTools


T = TypeVar("T", bound="UserInfo")


@_attrs_define
class UserInfo:
    """What somebody wrote.

    Attributes:
        agent (str):
        id (str):
        model (MessageModel):
        session_id (str):
        time (MessageTime): Units: milliseconds since the epoch.
        format_ (SchemaFormat | TextFormat | Unset):
        role (Literal['user'] | Unset):  Default: 'user'.
        summary (PromptSummary | Unset):
        system (str | Unset):
        tools (UserInfoTools | Unset):
    """

    agent: str
    id: str
    model: MessageModel
    session_id: str
    time: MessageTime
    format_: SchemaFormat | TextFormat | Unset = UNSET
    role: Literal["user"] | Unset = "user"
    summary: PromptSummary | Unset = UNSET
    system: str | Unset = UNSET
    tools: UserInfoTools | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.text_format import TextFormat

        agent = self.agent

        id = self.id

        model = self.model.to_dict()

        session_id = self.session_id

        time = self.time.to_dict()

        format_: dict[str, Any] | Unset
        if isinstance(self.format_, Unset):
            format_ = UNSET
        elif isinstance(self.format_, TextFormat):
            format_ = self.format_.to_dict()
        else:
            format_ = self.format_.to_dict()

        role = self.role

        summary: dict[str, Any] | Unset = UNSET
        if not isinstance(self.summary, Unset):
            summary = self.summary.to_dict()

        system = self.system

        tools: dict[str, Any] | Unset = UNSET
        if not isinstance(self.tools, Unset):
            tools = self.tools.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent": agent,
                "id": id,
                "model": model,
                "sessionID": session_id,
                "time": time,
            }
        )
        if format_ is not UNSET:
            field_dict["format"] = format_
        if role is not UNSET:
            field_dict["role"] = role
        if summary is not UNSET:
            field_dict["summary"] = summary
        if system is not UNSET:
            field_dict["system"] = system
        if tools is not UNSET:
            field_dict["tools"] = tools

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_model import MessageModel
        from ..models.message_time import MessageTime
        from ..models.prompt_summary import PromptSummary
        from ..models.schema_format import SchemaFormat
        from ..models.text_format import TextFormat
        from ..models.user_info_tools import UserInfoTools

        d = dict(src_dict)
        agent = d.pop("agent")

        id = d.pop("id")

        model = MessageModel.from_dict(d.pop("model"))

        session_id = d.pop("sessionID")

        time = MessageTime.from_dict(d.pop("time"))

        def _parse_format_(data: object) -> SchemaFormat | TextFormat | Unset:
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                format_type_0 = TextFormat.from_dict(data)

                return format_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            format_type_1 = SchemaFormat.from_dict(data)

            return format_type_1

        format_ = _parse_format_(d.pop("format", UNSET))

        role = cast(Literal["user"] | Unset, d.pop("role", UNSET))
        if role != "user" and not isinstance(role, Unset):
            raise ValueError(f"role must match const 'user', got '{role}'")

        _summary = d.pop("summary", UNSET)
        summary: PromptSummary | Unset
        if isinstance(_summary, Unset):
            summary = UNSET
        else:
            summary = PromptSummary.from_dict(_summary)

        system = d.pop("system", UNSET)

        _tools = d.pop("tools", UNSET)
        tools: UserInfoTools | Unset
        if isinstance(_tools, Unset):
            tools = UNSET
        else:
            tools = UserInfoTools.from_dict(_tools)

        user_info = cls(
            agent=agent,
            id=id,
            model=model,
            session_id=session_id,
            time=time,
            format_=format_,
            role=role,
            summary=summary,
            system=system,
            tools=tools,
        )

        return user_info
