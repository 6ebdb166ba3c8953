from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, script, text_of

pytestmark = pytest.mark.e2e


def test_two_sessions_stream_at_once(server: Installation) -> None:
    steps = [{"text": "start"}, {"delay_ms": 1500}, {"text": " end"}]

    def run(_: int) -> dict[str, Any]:
        with server.client() as client:
            return ask(client, new_session(client), script(steps))

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(run, range(2)))
    assert [text_of(answer) for answer in answers] == ["start end"] * 2
    times = [answer["info"]["time"] for answer in answers]
    assert max(time["created"] for time in times) < min(time["completed"] for time in times)


def test_many_sessions_settle(server: Installation) -> None:
    steps = ([{"tool": "list", "input": {}}], [{"text": "listed"}])
    errors: list[str] = []

    def run(_: int) -> None:
        with server.client() as client:
            answer = text_of(ask(client, new_session(client), script(*steps)))
            if answer != "listed":
                errors.append(answer)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    with server.client() as client:
        assert client.get("/session/status").json() == {}
