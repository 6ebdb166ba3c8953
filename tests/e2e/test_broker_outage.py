"""What goes on while Redis hangs or is gone, and that nothing is done twice when it is back."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.chaos.target import start_redis
from tests.e2e.installation import Installation, free_port, installation
from tests.e2e.rest import ask, body, new_session, script, text_of, wait_for

pytestmark = pytest.mark.e2e

# Publishing waits for a Redis that hangs, once in a while.
ADMITTED_S = 12.0
# Five seconds until workers look into the database, then every second, on a busy machine.
TAKEN_UP_S = 25.0


class Redis:
    """A redis-server of this test alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self._process: subprocess.Popen[bytes] = start_redis(self.port, self._folder)

    def hang(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    made = Redis(tmp_path_factory.mktemp("redis"))
    yield made
    made.kill()


@pytest.fixture(scope="module")
def server(redis: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("outage")) as made:
        made.env["REDIS_URL"] = f"redis://127.0.0.1:{redis.port}/0"
        made.workers = 2
        made.start()
        made.bootstrap()
        yield made


def answers(client: httpx.Client, session: str) -> list[str]:
    messages = client.get(f"/session/{session}/message").json()
    return [text_of(one) for one in messages if one["info"]["role"] == "assistant"]


def is_idle(client: httpx.Client, session: str) -> bool:
    return session not in client.get("/session/status").json()


def send(client: httpx.Client, session: str, text: str) -> float:
    began = time.monotonic()
    assert client.post(f"/session/{session}/prompt_async", json=body(text)).status_code == 204
    return time.monotonic() - began


@pytest.mark.parametrize("fault", ["hangs", "is gone"])
def test_nfr_01_turns_stops_and_permissions_go_on_while_redis_is_away(
    fault: str, server: Installation, redis: Redis
) -> None:
    with server.client() as client:
        project = Path(client.get("/path").json()["directory"])
        log = project / f"log-{fault.replace(' ', '-')}"
        assert text_of(ask(client, new_session(client), script([{"text": "before"}]))) == "before"
        # One that runs and one that waits for a person when it begins.
        running, waiting = new_session(client), new_session(client)
        send(client, running, script([{"text": "long"}, {"delay_ms": 300_000}]))
        wait_for(lambda: answers(client, running) == ["long"])
        append = {"tool": "bash", "input": {"command": f"echo once >> {log.name}"}}
        send(client, waiting, script([append], [{"text": "appended"}]))
        (request,) = wait_for(
            lambda: [one for one in client.get("/permission").json() if one["sessionID"] == waiting]
        )

        redis.hang() if fault == "hangs" else redis.kill()
        sessions = [new_session(client) for _ in range(3)]
        took = [send(client, one, script([{"text": "meanwhile"}])) for one in sessions]
        assert max(took) < ADMITTED_S, took
        for one in sessions:
            wait_for(lambda one=one: is_idle(client, one), seconds=TAKEN_UP_S)
            assert answers(client, one) == ["meanwhile"]
        # One that waits for its answer gets it.
        assert text_of(ask(client, sessions[0], script([{"text": "again"}]))) == "again"

        client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})
        wait_for(lambda: is_idle(client, waiting), seconds=TAKEN_UP_S)
        assert answers(client, waiting)[-1] == "appended"
        client.post(f"/session/{running}/abort")
        wait_for(lambda: is_idle(client, running), seconds=TAKEN_UP_S)

        redis.go_on() if fault == "hangs" else redis.start()
        after = new_session(client)
        assert text_of(ask(client, after, script([{"text": "after"}]))) == "after"
        wait_for(lambda: "broker.back" in server.log(), seconds=60)
        assert text_of(ask(client, after, script([{"text": "by Celery"}]))) == "by Celery"
        # What had been rung for meanwhile, or twice, was done once.
        assert answers(client, sessions[0]) == ["meanwhile", "again"]
        assert [answers(client, one) for one in sessions[1:]] == [["meanwhile"]] * 2
        assert log.read_text() == "once\n"
        assert answers(client, running) == ["long"]
