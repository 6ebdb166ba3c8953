"""Which engine is asked, and what. The adapters are in modules of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

TIMEOUT_S = 25.0
MAX_ANSWER_BYTES = 2 * 1024 * 1024


class EngineKind(StrEnum):
    """The engines there are adapters for."""

    EXA = "exa"
    PARALLEL = "parallel"
    SEARXNG = "searxng"
    BRAVE = "brave"


# Where each is asked unless a team says otherwise; of SearXNG everybody runs their own.
# Source: the vendors' pages on their MCP servers and API.
ADDRESSES: Mapping[EngineKind, str] = MappingProxyType(
    {
        EngineKind.EXA: "https://mcp.exa.ai/mcp",
        EngineKind.PARALLEL: "https://search.parallel.ai/mcp",
        EngineKind.BRAVE: "https://api.search.brave.com",
    }
)
NAMES: Mapping[EngineKind, str] = MappingProxyType(
    {
        EngineKind.EXA: "Exa",
        EngineKind.PARALLEL: "Parallel",
        EngineKind.SEARXNG: "SearXNG",
        EngineKind.BRAVE: "Brave",
    }
)


class SearchError(Exception):
    """The engine gave no answer; the message says why and holds no key."""


@dataclass(frozen=True)
class Engine:
    """One engine, ready to be asked. `key` is empty where none is needed."""

    kind: EngineKind
    address: str
    key: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        return NAMES[self.kind]

    @property
    def finds_code(self) -> bool:
        """Whether it has a search for code beside that of the web."""
        return self.kind is EngineKind.EXA


@dataclass(frozen=True)
class WebQuery:
    """What is looked for. Engines that do not know a wish leave it out."""

    text: str
    results: int = 8
    depth: Literal["auto", "fast", "deep"] = "auto"
    livecrawl: Literal["fallback", "preferred"] = "fallback"
    max_chars: int | None = None


@dataclass(frozen=True)
class Hit:
    """One page of a list of results."""

    title: str
    url: str
    text: str


def render_hits(hits: list[Hit]) -> str:
    """Returns: the list as a model reads it; empty without any."""
    return "\n\n".join(
        f"Title: {_line(hit.title)}\nURL: {_line(hit.url)}\n{hit.text.strip()}".rstrip()
        for hit in hits
    )


def _line(text: str) -> str:
    return " ".join(text.split())
