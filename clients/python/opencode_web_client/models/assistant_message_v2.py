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
    from ..models.call_v2 import CallV2
    from ..models.failure import Failure
    from ..models.message_time_v2 import MessageTimeV2
    from ..models.model_name import ModelName
    from ..models.reasoning_v2 import ReasoningV2
    from ..models.text_v2 import TextV2
    from ..models.tokens_v2 import TokensV2


T = TypeVar("T", bound="AssistantMessageV2")


@_attrs_define
class AssistantMessageV2:
    """
    Attributes:
        agent (str):
        content (list[CallV2 | ReasoningV2 | TextV2]):
        id (str):
        model (ModelName):
        time (MessageTimeV2):
        type_ (Literal['assistant']):
        cost (float | Unset):
        error (Failure | Unset):
        finish (str | Unset):
        tokens (TokensV2 | Unset):
    """

    agent: str
    content: list[CallV2 | ReasoningV2 | TextV2]
    id: str
    model: ModelName
    time: MessageTimeV2
    type_: Literal["assistant"]
    cost: float | Unset = UNSET
    error: Failure | Unset = UNSET
    finish: str | Unset = UNSET
    tokens: TokensV2 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.reasoning_v2 import ReasoningV2
        from ..models.text_v2 import TextV2

        agent = self.agent

        content = []
        for content_item_data in self.content:
            content_item: dict[str, Any]
            if isinstance(content_item_data, TextV2) or isinstance(
                content_item_data, ReasoningV2
            ):
                content_item = content_item_data.to_dict()
            else:
                content_item = content_item_data.to_dict()

            content.append(content_item)

        id = self.id

        model = self.model.to_dict()

        time = self.time.to_dict()

        type_ = self.type_

        cost = self.cost

        error: dict[str, Any] | Unset = UNSET
        if not isinstance(self.error, Unset):
            error = self.error.to_dict()

        finish = self.finish

        tokens: dict[str, Any] | Unset = UNSET
        if not isinstance(self.tokens, Unset):
            tokens = self.tokens.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "agent": agent,
                "content": content,
                "id": id,
                "model": model,
                "time": time,
                "type": type_,
            }
        )
        if cost is not UNSET:
            field_dict["cost"] = cost
        if error is not UNSET:
            field_dict["error"] = error
        if finish is not UNSET:
            field_dict["finish"] = finish
        if tokens is not UNSET:
            field_dict["tokens"] = tokens

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.call_v2 import CallV2
        from ..models.failure import Failure
        from ..models.message_time_v2 import MessageTimeV2
        from ..models.model_name import ModelName
        from ..models.reasoning_v2 import ReasoningV2
        from ..models.text_v2 import TextV2
        from ..models.tokens_v2 import TokensV2

        d = dict(src_dict)
        agent = d.pop("agent")

        content = []
        _content = d.pop("content")
        for content_item_data in _content:

            def _parse_content_item(data: object) -> CallV2 | ReasoningV2 | TextV2:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    content_item_type_0 = TextV2.from_dict(data)

                    return content_item_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    content_item_type_1 = ReasoningV2.from_dict(data)

                    return content_item_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                content_item_type_2 = CallV2.from_dict(data)

                return content_item_type_2

            content_item = _parse_content_item(content_item_data)

            content.append(content_item)

        id = d.pop("id")

        model = ModelName.from_dict(d.pop("model"))

        time = MessageTimeV2.from_dict(d.pop("time"))

        type_ = cast(Literal["assistant"], d.pop("type"))
        if type_ != "assistant":
            raise ValueError(f"type must match const 'assistant', got '{type_}'")

        cost = d.pop("cost", UNSET)

        _error = d.pop("error", UNSET)
        error: Failure | Unset
        if isinstance(_error, Unset):
            error = UNSET
        else:
            error = Failure.from_dict(_error)

        finish = d.pop("finish", UNSET)

        _tokens = d.pop("tokens", UNSET)
        tokens: TokensV2 | Unset
        if isinstance(_tokens, Unset):
            tokens = UNSET
        else:
            tokens = TokensV2.from_dict(_tokens)

        assistant_message_v2 = cls(
            agent=agent,
            content=content,
            id=id,
            model=model,
            time=time,
            type_=type_,
            cost=cost,
            error=error,
            finish=finish,
            tokens=tokens,
        )

        assistant_message_v2.additional_properties = d
        return assistant_message_v2

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
