from __future__ import annotations

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from opencode_web.lib.body_limit import SMALL_BYTES, BodyLimit, limit_of

TOKEN = (b"authorization", b"Bearer x")
COOKIE = (b"cookie", b"theme=dark; sessionid=abc")


async def echo_length(scope: Any, receive: Any, send: Any) -> None:
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message["body"])
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


async def post(path: str, *chunks: int, headers: Any = (), stated: bytes = b"") -> tuple[int, int]:
    given = [*headers, *([(b"content-length", stated)] if stated else [])]
    scope = {"type": "http", "method": "POST", "path": path, "headers": given}
    app = ApplicationCommunicator(BodyLimit(echo_length), scope)
    for place, size in enumerate(chunks):
        message = {"type": "http.request", "body": b"x" * size}
        await app.send_input({**message, "more_body": place < len(chunks) - 1})
    start = await app.receive_output(5)
    await app.receive_output(5)
    await app.wait(5)
    return start["status"], app.input_queue.qsize()


@pytest.mark.parametrize("headers", [[TOKEN], [COOKIE]])
async def test_who_shows_a_token_or_session_may_send_up_to_the_limit(
    headers: Any, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 200_000
    assert await post("/session", 100_000, 100_000, headers=headers) == (200, 0)
    assert await post("/session", 100_000, 100_001, 5, 5, headers=headers) == (413, 2)
    assert await post("/session", 1, headers=headers, stated=b"200001") == (413, 1)


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/session", []), ("/login", [COOKIE]), ("/setup", [TOKEN]), ("/invite/abc", [COOKIE])],
)
async def test_others_may_send_a_form(path: str, headers: Any) -> None:
    assert await post(path, SMALL_BYTES, headers=headers) == (200, 0)
    assert await post(path, SMALL_BYTES, 1, 1, headers=headers) == (413, 1)


async def test_a_length_that_is_no_number_is_refused() -> None:
    assert (await post("/session", 1, headers=[TOKEN], stated=b"-1"))[0] == 413


def test_the_small_limit_is_never_above_the_large_one(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert limit_of("/login", []) == limit_of("/session", [TOKEN]) == 1000
