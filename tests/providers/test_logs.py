from __future__ import annotations

import logging
from typing import Any

import pytest

from providers.kinds import ProviderKind
from tests.providers.requests import KEY, collect, make_model, make_request
from tests.providers.servers import Reply
from tests.providers.test_stream_errors import EVERY_WIRE

PROMPT = "nobody else may read this prompt"
ANSWER = "nobody else may read this answer"


def _all_of(record: logging.LogRecord) -> str:
    return f"{record.__dict__} {record.getMessage()}"


@EVERY_WIRE
async def test_no_level_of_the_log_shows_prompts_answers_or_keys(
    kind: ProviderKind, server_class: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with server_class([Reply(text=ANSWER, chunk_chars=100)]) as server:
        await collect(make_request(make_model(kind, base_url=server.base_url), PROMPT))
        assert PROMPT in str(server.requests[0].json)
    words = (PROMPT, ANSWER, KEY)
    told = {r.name for r in caplog.records if any(word in _all_of(r) for word in words)}
    assert told == set()
    assert "providers.stream" in {record.name for record in caplog.records}
