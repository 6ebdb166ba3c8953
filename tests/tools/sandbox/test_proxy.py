from __future__ import annotations

import asyncio
import http.server
import socket
import threading
from pathlib import Path

import pytest

from opencode_web.lib.addresses import Address, parse_address
from opencode_web.lib.outbound import NO_ANSWER
from tests.tools.sandbox.networks import Fetch
from tests.web_server import Routes, answer, swallow
from tools.sandbox import proxy
from tools.sandbox.hosts import HostList, HostRules, parse_patterns, parse_target

PYTHON = "python3 -c"
OPEN = "exec 3<>/dev/tcp/127.0.0.1/3128;"
URL_OPEN = f"{PYTHON} 'import urllib.request as u, sys; u.urlopen(sys.argv[1])'"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (f"{URL_OPEN} http://x.test/", "403: x.test:80 is not"),
        (f"{URL_OPEN} https://x.test/", "403 x.test:443 is not"),
        ("curl -sS -w '%{http_code}' http://registry.test:1/", "403"),
        ("curl -sS -x http://127.0.0.1:3128 ftp://registry.test/", "CONNECT for all others"),
        ("curl -sS http://u:p@registry.test:PORT/ -o /dev/null -w '%{http_code}'", "200"),
        ("curl -sS http://gone.registry.test:PORT/", NO_ANSWER),
        (f"{OPEN} printf 'x\\r\\n\\r\\n' >&3; cat <&3", "no request to a proxy"),
        (f"{OPEN} printf 'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' >&3; cat <&3", "400"),
        (f"{OPEN} head -c 90000 /dev/zero | tr '\\0' x >&3; cat <&3", "400"),
    ],
)
async def test_what_cannot_be_done_is_said(
    fetch: Fetch, routes: Routes, command: str, said: str
) -> None:
    routes["/"] = answer(b"")
    assert said in (await fetch(command))[0]


POST = "curl -sS --data-binary @large -H 'Expect: 100-continue' http://registry.test:PORT/post"
CHUNKED = "curl -sS -T - -X POST http://registry.test:PORT/chunks <large"


@pytest.mark.parametrize("size", [0, 3_000_000])
@pytest.mark.parametrize("command", [POST, CHUNKED])
async def test_bodies_go_both_ways(
    fetch: Fetch, routes: Routes, worktree: Path, command: str, size: int
) -> None:
    body = bytes(range(256)) * (size // 256)
    (worktree / "large").write_bytes(body)

    def echo(handler: http.server.BaseHTTPRequestHandler) -> None:
        if handler.headers.get("transfer-encoding") == "chunked":
            got = b""
            while length := int(handler.rfile.readline(), 16):
                got += handler.rfile.read(length)
                handler.rfile.readline()
        else:
            got = handler.rfile.read(int(handler.headers["content-length"]))
        assert handler.headers.get("proxy-connection") is None
        # Without a length: its end is that of the connection.
        answer(f"{len(got)} {got == body}".encode(), content_length="")(handler)

    routes["/post"] = routes["/chunks"] = echo
    said, _ = await fetch(command)
    assert said == f"{len(body)} True"


async def test_a_second_request_on_a_connection_goes_nowhere(fetch: Fetch, routes: Routes) -> None:
    routes["/a"] = answer(b"first")
    one = "GET http://registry.test:PORT/a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
    other = "GET http://evilregistry.test:PORT/a HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
    said, _ = await fetch(f"exec 3<>/dev/tcp/127.0.0.1/3128; printf '{one}{other}' >&3; cat <&3")
    assert said.count("HTTP/1.1") == said.count("first") == 1


async def test_a_tunnel_carries_anything_and_each_side_may_finish_first(
    fetch: Fetch, port: str
) -> None:
    async def upper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Only at the end of what comes is anything sent back.
        writer.write((await reader.read()).upper())
        writer.close()

    server = await asyncio.start_server(upper, "127.0.0.1", 0)
    async with server:
        other = server.sockets[0].getsockname()[1]
        said, _ = await fetch(
            f"""{PYTHON} "import socket
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'CONNECT registry.test:{other} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nearly')
head = b''
while b'\\r\\n\\r\\n' not in head: head += s.recv(1)
s.sendall(b' and late'); s.shutdown(socket.SHUT_WR)
print(head.split()[1].decode(), s.makefile().read())" """,
            f"registry.test:{other}",
        )
    assert said == "200 EARLY AND LATE\n"


async def test_so_many_connections_at_once_and_none_outlives_the_command(
    fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "MAX_CONNECTIONS", 3)
    gone = asyncio.Event()
    here = 0

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal here
        here += 1
        await reader.read()
        here -= 1
        if not here:
            gone.set()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    async with server:
        other = server.sockets[0].getsockname()[1]
        said, _ = await fetch(
            f"""{PYTHON} "import socket
for number in range(4):
    s = socket.create_connection(('127.0.0.1', 3128)); globals()['s%d' % number] = s
    s.sendall(b'CONNECT registry.test:{other} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
    print(s.recv(1000).split()[1].decode())" """,
            f"registry.test:{other}",
        )
        async with asyncio.timeout(30):
            await gone.wait()
    assert said.split() == ["200", "200", "200", "503"]


async def test_an_answer_that_is_no_http_is_none(fetch: Fetch) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-server\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    async with server:
        other = server.sockets[0].getsockname()[1]
        said, _ = await fetch(f"curl -sS registry.test:{other}", f"registry.test:{other}")
    assert NO_ANSWER in said


async def test_an_address_that_swallows_everything_hides_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(*_: object) -> list[Address | None]:
        return [parse_address("127.0.0.2"), parse_address("127.0.0.1")]

    monkeypatch.setattr(proxy, "resolve", resolve)
    monkeypatch.setattr(proxy, "_CONNECT_S", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        rules = HostRules((HostList("team", parse_patterns([f"a.test:{port}"])),))
        with swallow("127.0.0.2", port):
            _, writer = await proxy.Proxy(rules)._connect(parse_target("a.test", port))
        assert writer.get_extra_info("peername")[0] == "127.0.0.1"
        writer.close()
        await writer.wait_closed()


async def test_a_flood_of_connections_costs_few_descriptors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proxy, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(proxy, "MAX_TOLD", 3)
    for patience in ("_HEAD_S", "_HANG_UP_S"):
        monkeypatch.setattr(proxy, patience, 600)
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(proxy.Proxy(HostRules(())).serve(listener))
    address = listener.getsockname()
    clients = [await asyncio.open_connection(*address) for _ in range(20)]
    try:
        said = [await _first_words(reader) for reader, _ in clients[2:]]
    finally:
        serving.cancel()
        await asyncio.wait({serving})
        for _, writer in clients:
            writer.close()
    assert [words[9:12] for words in said] == ["503"] * 3 + [""] * 15


async def _first_words(reader: asyncio.StreamReader) -> str:
    try:
        async with asyncio.timeout(30):
            return (await reader.readline()).decode()
    except ConnectionResetError:
        return ""


async def test_a_command_looks_few_names_up_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered, asked = threading.Event(), []

    def late(host: str, *_: object, **__: object) -> list[object]:
        asked.append(host)
        answered.wait(60)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", late)
    rules = HostRules((HostList("team", parse_patterns(["*.late.test"])),))
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(proxy.Proxy(rules).serve(listener))
    writers = []
    try:
        for number in range(40):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writers.append(writer)
            writer.write(f"CONNECT {number}.late.test:443 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        async with asyncio.timeout(30):
            while len(asked) < proxy.MAX_LOOKUPS:
                await asyncio.sleep(0)
        assert len(asked) == proxy.MAX_LOOKUPS
    finally:
        serving.cancel()
        await asyncio.wait({serving})
        answered.set()
        for writer in writers:
            writer.close()
