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
    from ..models.message_error import MessageError
    from ..models.message_path import MessagePath
    from ..models.message_time import MessageTime
    from ..models.tokens import Tokens


T = TypeVar("T", bound="AssistantMessage")


@_attrs_define
class AssistantMessage:
    """
    Attributes:
        agent (str):
        id (str):
        mode (str):
        model_id (str):
        parent_id (str):
        path (MessagePath):
        provider_id (str):
        session_id (str):
        time (MessageTime): Units: milliseconds since the epoch.
        cost (float | Unset):  Default: 0.0.
        error (MessageError | Unset): `name` is one of the wire's: ProviderAuthError, MessageAbortedError, APIError, …
        finish (str | Unset):
        role (Literal['assistant'] | Unset):  Default: 'assistant'.
        structured (Any | Unset):
        summary (bool | Unset):
        tokens (Tokens | Unset): Units: tokens. `input` excludes the cache, `output` excludes reasoning.
        variant (str | Unset):
    """

    agent: str
    id: str
    mode: str
    model_id: str
    parent_id: str
    path: MessagePath
    provider_id: str
    session_id: str
    time: MessageTime
    cost: float | Unset = 0.0
    error: MessageError | Unset = UNSET
    finish: str | Unset = UNSET
    role: Literal["assistant"] | Unset = "assistant"
    structured: Any | Unset = UNSET
    summary: bool | Unset = UNSET
    tokens: Tokens | Unset = UNSET
    variant: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        agent = self.agent

        id = self.id

        mode = self.mode

        model_id = self.model_id

        parent_id = self.parent_id

        path = self.path.to_dict()

        provider_id = self.provider_id

        session_id = self.session_id

        time = self.time.to_dict()

        cost = self.cost

        error: dict[str, Any] | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.to_dict()

        finish = self.finish

        role = self.role

        structured = self.structured

        summary = self.summary

        tokens: dict[str, Any] | Unset = UNSET
        if not isinstance(self.tokens, Unset):
            tokens = self.tokens.to_dict()

        variant = self.variant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "agent": agent,
                "id": id,
                "mode": mode,
                "modelID": model_id,
                "parentID": parent_id,
                "path": path,
                "providerID": provider_id,
                "sessionID": session_id,
                "time": time,
            }
        )
        if cost is not UNSET:
            field_dict["cost"] = cost
        if error is not UNSET:
            field_dict["error"] = error
        if finish is not UNSET:
            field_dict["finish"] = finish
        if role is not UNSET:
            field_dict["role"] = role
        if structured is not UNSET:
            field_dict["structured"] = structured
        if summary is not UNSET:
            field_dict["summary"] = summary
        if tokens is not UNSET:
            field_dict["tokens"] = tokens
        if variant is not UNSET:
            field_dict["variant"] = variant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.message_error import MessageError
        from ..models.message_path import MessagePath
        from ..models.message_time import MessageTime
        from ..models.tokens import Tokens

        d = dict(src_dict)
        agent = d.pop("agent")

        id = d.pop("id")

        mode = d.pop("mode")

        model_id = d.pop("modelID")

        parent_id = d.pop("parentID")

        path = MessagePath.from_dict(d.pop("path"))

        provider_id = d.pop("providerID")

        session_id = d.pop("sessionID")

        time = MessageTime.from_dict(d.pop("time"))

        cost = d.pop("cost", UNSET)

        _error = d.pop("error", UNSET)
        error: MessageError | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = MessageError.from_dict(_error)

        finish = d.pop("finish", UNSET)

        role = cast(Literal["assistant"] | Unset, d.pop("role", UNSET))
        if role != "assistant" and not isinstance(role, Unset):
            raise ValueError(f"role must match const 'assistant', got '{role}'")

        structured = d.pop("structured", UNSET)

        summary = d.pop("summary", UNSET)

        _tokens = d.pop("tokens", UNSET)
        tokens: Tokens | Unset
        if isinstance(_tokens, Unset):
            tokens = UNSET
        else:
            tokens = Tokens.from_dict(_tokens)

        variant = d.pop("variant", UNSET)

        assistant_message = cls(
            agent=agent,
            id=id,
            mode=mode,
            model_id=model_id,
            parent_id=parent_id,
            path=path,
            provider_id=provider_id,
            session_id=session_id,
            time=time,
            cost=cost,
            error=error,
            finish=finish,
            role=role,
            structured=structured,
            summary=summary,
            tokens=tokens,
            variant=variant,
        )

        return assistant_message
