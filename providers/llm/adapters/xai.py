"""xAI: Grok by Responses, whose items are written in another way than OpenAI's."""

from __future__ import annotations

from collections.abc import Iterator

from ..json import JsonObject
from ..messages import ProviderRequest, Reasoning, Text, ToolCall
from ..protocols.billed import of_xai
from ..protocols.responses import Dialect, Responses
from ..protocols.responses_items import Items
from ..route import Route, register
from ..schemas.xai import open_schema
from .openai import responses_route

XAI_URL = "https://api.x.ai/v1"
_NAMESPACE = "xai"
_NAMES = {
    "include": "include",
    "store": "store",
    "user": "user",
    "parallelToolCalls": "parallel_tool_calls",
    "promptCacheKey": "prompt_cache_key",
}


class XaiItems(Items):
    """Reasoning keeps its id, everything has a status, and texts are plain."""

    has_files_in_output = False

    def system(self, text: str, request: ProviderRequest) -> JsonObject:
        """Returns: what the system says, at the beginning or in between."""
        return {"role": "system", "content": text}

    def text(self, text: Text) -> JsonObject:
        """Returns: what the model has said."""
        return {"role": "assistant", "content": text.text}

    def reasoning(self, thoughts: list[Reasoning]) -> Iterator[JsonObject]:
        """Yield the thoughts of one item; none where neither its id nor its content is known."""
        item_id = next((self.kept(one.metadata).get("itemId") for one in thoughts), None)
        for item in self.items_of_reasoning(thoughts, needs_encrypted=not item_id):
            named: JsonObject = {"id": item_id} if item_id else {}
            yield {**item, **named, "status": "completed"}

    def call(self, call: ToolCall) -> JsonObject:
        """Returns: a call that the model has made."""
        item = super().call(call)
        return {**item, "id": item["call_id"], "status": "completed"}

    def result_file_name(self, index: int) -> str:
        """Returns: the name of a document that has none."""
        return "file"


_XAI = Responses(
    Dialect(
        namespace=_NAMESPACE,
        sampling="always",
        schema_of=open_schema,
        is_strict_told=False,
        keeps_item_ids=False,
        option_names=_NAMES,
        billed=of_xai,
    ),
    XaiItems(_NAMESPACE),
)


def _xai(request: ProviderRequest) -> Route:
    return responses_route(request, _XAI, XAI_URL)


register("@ai-sdk/xai", _xai)
