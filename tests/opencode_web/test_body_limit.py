from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.opencode_web.server import UpServer, up_to_date

pytestmark = pytest.mark.e2e

IDE = "https://ide.example.com"
CHUNK = b"x" * 16_384


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpServer]:
    data = tmp_path_factory.mktemp("limits") / "data"
    env = up_to_date(data, MAX_REQUEST_BYTES="1000000", CORS_ORIGINS=IDE)
    with UpServer(env) as up:
        yield up


def send(server: UpServer, path: str, headers: dict[str, str], chunks: int) -> tuple[int, int]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("POST", path)
    for name, value in {"Transfer-Encoding": "chunked", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    sent = 0
    try:
        for _ in range(chunks):
            connection.send(b"%x\r\n%b\r\n" % (len(CHUNK), CHUNK))
            sent += 1
        connection.send(b"0\r\n\r\n")
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        return connection.getresponse().status, sent
    except (http.client.HTTPException, OSError):
        return 0, sent
    finally:
        connection.close()


def memory_kib(server: UpServer) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_a_chunked_body_is_refused_while_it_comes(server: UpServer) -> None:
    assert send(server, "/login", {}, 2)[0] in {200, 403, 422}
    assert send(server, "/login", {}, 6)[0] == 413
    token = {"Authorization": "Bearer x", "Content-Type": "application/json"}
    assert send(server, "/session", token, 50)[0] == 401
    assert send(server, "/session", token, 80)[0] == 413


def test_a_stated_length_is_refused_before_the_body(server: UpServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("POST", "/login")
    connection.putheader("Content-Length", "100000")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    told = json.load(answer)
    assert told["_tag"] == "TooLargeError"
    assert told["message"] == "This request may have at most 64 KiB."
    connection.close()


@pytest.mark.deep
def test_memory_stays_flat_under_an_endless_body(server: UpServer) -> None:
    growth = []
    # A server that has just started still loads modules, but not for ever.
    for _ in range(5):
        before = memory_kib(server)
        send(server, "/login", {}, 5_000)
        growth.append(memory_kib(server) - before)
        if growth[-1] < 20_000:
            return
        time.sleep(1)
    pytest.fail(f"each request took {growth} KiB more")


@pytest.mark.parametrize(("origin", "granted"), [(IDE, IDE), ("https://evil.example", None)])
def test_a_page_of_a_listed_origin_can_read_that_it_was_too_much(
    server: UpServer, origin: str, granted: str | None
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest("POST", "/sess%69on?directory=/x")
    connection.putheader("Origin", origin)
    connection.putheader("Content-Length", "100000")
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert answer.getheader("Access-Control-Allow-Origin") == granted
    assert answer.getheader("Vary") == "Origin"
    assert json.load(answer)["_tag"] == "TooLargeError"
    connection.close()
