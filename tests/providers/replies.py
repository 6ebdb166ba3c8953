from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call of the model. `raw` sends arguments that need not be JSON."""

    name: str
    arguments: Json = field(default_factory=dict)
    id: str = "call_1"
    raw: str | None = None

    @property
    def text(self) -> str:
        return self.raw if self.raw is not None else json.dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """What the server answers: a stream, or with another `status` than 200 an error body."""

    text: str = ""
    reasoning: str = ""
    signature: str = "c2lnbmF0dXJl"
    redacted: str = ""
    calls: tuple[Call, ...] = ()
    chunk_chars: int = 8
    chunk_delay_s: float = 0.0
    input_tokens: int = 100
    output_tokens: int = 20
    reasoning_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    finish: str | None = None
    cut_after: int | None = None
    """Break the connection after so many chunks."""
    end_after: int | None = None
    """End the answer properly after so many chunks, without a finish reason."""
    stream_error: Json | None = None
    """An error event after the content instead of the end."""
    status: int = 200
    error: Json | str | None = None
    headers: dict[str, str] = field(default_factory=dict)


def pieces(text: str, reply: Reply) -> list[str]:
    return [text[i : i + reply.chunk_chars] for i in range(0, len(text), reply.chunk_chars)]
