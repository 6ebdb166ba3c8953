from __future__ import annotations

import base64
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import httpx
import pytest

from opencode_web.lib.unread_answers import PIECE_BYTES
from tests.opencode_web.server import UpServer, manage, submit, up_to_date

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.any_database]

LIMIT_S = 1
# Longer than any of the limits.
PAST_LIMITS_S = 2.5
PATIENCE_S = 20
PASSWORD = "correct-horse-battery"
UNREAD_S = 10
# More of them than the buffers of both sides hold.
ANSWERS = 30
HEAD = b"POST /login HTTP/1.1\r\nHost: localhost\r\n"


class Server(UpServer):
    token = ""

    def ask(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def is_well(self) -> bool:
        return httpx.get(f"http://127.0.0.1:{self.port}/global/health").status_code == 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    env = up_to_date(
        tmp_path_factory.mktemp("slow") / "data",
        REQUEST_HEADER_TIMEOUT_S=str(LIMIT_S),
        REQUEST_BODY_TIMEOUT_S=str(LIMIT_S),
        KEEP_ALIVE_TIMEOUT_S=str(LIMIT_S),
        UNFINISHED_REQUESTS="5",
        RESPONSE_TIMEOUT_S=str(UNREAD_S),
        UNREAD_RESPONSES="3",
    )
    owner = ("--email", "olga@example.com", "--password", PASSWORD, "--team", "Acme", "--json")
    made = manage("bootstrap", *owner, env=env)
    with Server(env) as up:
        up.token = json.loads(made.stdout)["token"]
        yield up


def trickle(connection: socket.socket, piece: bytes, *, every_s: float = 0.1) -> bytes:
    """Send a piece again and again until the server ends it. Returns: what the server sent."""
    answer = b""
    deadline = time.monotonic() + PATIENCE_S
    connection.settimeout(every_s)
    while time.monotonic() < deadline:
        try:
            connection.sendall(piece)
            data = connection.recv(65_536)
        except TimeoutError:
            continue
        except OSError:
            return answer
        if not data:
            return answer
        answer += data
    pytest.fail("the server has not ended the connection")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("sent", "piece"),
    [
        pytest.param(b"", b"G", id="request line"),
        pytest.param(b"GET / HTTP/1.1\r\n", b"X-A: b\r\n", id="header"),
        pytest.param(b"GET /ws/ HTTP/1.1\r\nUpgrade: websocket\r\n", b"X-A: b\r\n", id="websocket"),
        pytest.param(HEAD + b"Content-Length: 5000\r\n\r\n", b"x", id="body"),
        pytest.param(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", id="chunked body"
        ),
    ],
)
def test_a_request_that_trickles_in_is_ended(server: Server, sent: bytes, piece: bytes) -> None:
    began = time.monotonic()
    with closing(server.ask()) as connection:
        connection.sendall(sent)
        answer = trickle(connection, piece)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert LIMIT_S * 0.9 < time.monotonic() - began < LIMIT_S * 8
    assert server.is_well()


def test_a_connection_without_any_byte_is_ended(server: Server) -> None:
    with closing(server.ask()) as connection:
        assert b" 408 " in connection.recv(1000)
        assert connection.recv(1000) == b""


def test_a_second_request_on_a_connection_is_limited_too(server: Server) -> None:
    request = b"GET /global/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with closing(server.ask()) as connection:
        # The second one has begun before the first is answered.
        connection.sendall(request + b"GET /glo")
        answer = trickle(connection, b"b")
    assert answer.count(b"HTTP/1.1 200 ") == 1
    assert b"HTTP/1.1 408 " in answer


def test_an_idle_connection_is_closed_and_serves_until_then(server: Server) -> None:
    request = b"GET /global/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with closing(server.ask()) as connection:
        for _ in range(3):
            connection.sendall(request)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
            time.sleep(LIMIT_S / 2)
        assert connection.recv(1) == b""


def test_a_slow_upload_that_goes_on_is_taken(server: Server) -> None:
    pieces = 6
    with closing(server.ask()) as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (pieces * 4096))
        for _ in range(pieces):
            time.sleep(LIMIT_S / 2)
            connection.sendall(b"x" * 4096)
        status = int(connection.recv(65_536).split()[1])
    assert status in {403, 422}


def test_large_headers_are_refused(server: Server) -> None:
    for lines in (b"X-A: %b\r\n" % (b"x" * 20_000), b"X-A: b\r\n" * 200):
        with closing(server.ask()) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n" + lines + b"\r\n")
            answer = trickle(connection, b"\r\n")
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")


def test_an_event_stream_lives_on(server: Server) -> None:
    with closing(server.ask()) as connection:
        auth = f"Authorization: Bearer {server.token}\r\n"
        connection.sendall(f"GET /event HTTP/1.1\r\nHost: localhost\r\n{auth}\r\n".encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert _is_open(connection)


def test_a_websocket_lives_on(server: Server) -> None:
    base = f"http://localhost:{server.port}"
    with httpx.Client() as browser:
        submit(browser, f"{base}/login", {"login": "olga@example.com", "password": PASSWORD})
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    key = base64.b64encode(os.urandom(16)).decode()
    head = (
        f"GET /ws/?team=acme HTTP/1.1\r\nHost: localhost:{server.port}\r\nOrigin: {base}\r\n"
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {key}\r\nCookie: {cookies}\r\n\r\n"
    )
    with closing(server.ask()) as connection:
        connection.sendall(head.encode())
        received = b""
        while b'"hi"' not in received:
            received += connection.recv(65_536)
        assert received.startswith(b"HTTP/1.1 101 ")
        assert _is_open(connection)


def test_of_many_unfinished_requests_of_one_address_the_oldest_gives_way(server: Server) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(closing(server.ask())) for _ in range(5)]
        for connection in held:
            connection.sendall(b"GET / HTTP/1.1\r\n")
        assert server.is_well()
        assert _ended(held[0])
        assert server.is_well()


def _ask_for_much(server: Server) -> socket.socket:
    """A client that has asked for more than the kernel keeps for it."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE_BYTES)
    connection.connect(("127.0.0.1", server.port))
    connection.settimeout(PATIENCE_S)
    file = b"/static/vendor/xterm-xterm-6.0.0/xterm.mjs"
    connection.sendall(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % file * ANSWERS)
    return connection


def _read(connection: socket.socket, *, pause_s: float) -> int:
    """Returns: bytes that came until the server ended it, or all answers were there."""
    received = b""
    while received.count(b"HTTP/1.1 200 ") < ANSWERS:
        time.sleep(pause_s)
        try:
            data = connection.recv(PIECE_BYTES)
        except ConnectionResetError:
            break
        if not data:
            break
        received += data
    return received.count(b"HTTP/1.1 200 ")


@pytest.mark.deep
def test_who_does_not_read_is_cut_off_and_who_reads_slowly_is_not(server: Server) -> None:
    with closing(_ask_for_much(server)) as silent, closing(_ask_for_much(server)) as slow:
        assert _read(slow, pause_s=0.01) == ANSWERS
        time.sleep(UNREAD_S)
        assert 0 < _read(silent, pause_s=0) < ANSWERS
    assert server.is_well()


def test_of_many_who_do_not_read_the_oldest_gives_way(server: Server) -> None:
    with ExitStack() as stack:
        oldest = stack.enter_context(closing(_ask_for_much(server)))
        # The oldest is the one that is behind for longest, not the one that has asked first.
        time.sleep(UNREAD_S / 5)
        for _ in range(3):
            stack.enter_context(closing(_ask_for_much(server)))
        # Before its time is over.
        time.sleep(UNREAD_S / 2)
        assert _read(oldest, pause_s=0) < ANSWERS
    assert server.is_well()


def _ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1000) == b""
    except ConnectionResetError:
        return True


def _is_open(connection: socket.socket) -> bool:
    end = time.monotonic() + PAST_LIMITS_S
    while (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            if not connection.recv(65_536):
                return False
        except TimeoutError:
            break
    return True
