"""`core/mcp-resources`: resources of MCP servers that have changed since people mentioned them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from pydantic import TypeAdapter

from sessions.events.messages import Frozen
from sessions.files import changed_resource
from sessions.runner.context.source import ContextInputs, Source

# Of all together.
_MAX_CHARS = 64_000
_LEFT_OUT = "(Not shown: too many resources have changed. Read it when you need it.)"


class Resource(Frozen):
    """What a server gives for one now."""

    server: str
    uri: str
    text: str


Resources = list[Resource]


def _observe(inputs: ContextInputs, known: Resources | None) -> Resources | None:
    texts = {(one.server, one.uri): one.text for one in known or ()}
    texts |= inputs.resources()
    if not texts:
        return None
    redactor = inputs.redactor()
    found = [(*name, redactor.text(text)) for name, text in sorted(texts.items())]
    sums = accumulate(len(text) for *_, text in found)
    return [
        Resource(server=server, uri=uri, text=text if total <= _MAX_CHARS else _LEFT_OUT)
        for (server, uri, text), total in zip(found, sums, strict=True)
    ]


def _render(resources: Iterable[Resource]) -> str:
    return "\n\n".join(
        changed_resource({"server": one.server, "uri": one.uri}, one.text) for one in resources
    )


SOURCE: Source[Resources] = Source(
    key="core/mcp-resources",
    type=TypeAdapter(Resources),
    observe=_observe,
    baseline=_render,
    update=lambda old, new: _render(one for one in new if one not in old),
    removal=lambda _old: "",
)
