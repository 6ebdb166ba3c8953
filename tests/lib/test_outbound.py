from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from opencode_web.lib import outbound
from opencode_web.lib.addresses import Address, parse_address
from opencode_web.lib.outbound import NO_ANSWER, FetchError, fetch_text
from tests.web_server import Routes, answer, raw, serve, swallow


@pytest.fixture
def routes() -> Routes:
    return {}


@pytest.fixture
def base(routes: Routes) -> Iterator[str]:
    with serve(routes) as address:
        yield address


async def fetch(url: str, **options: Any) -> tuple[str, bool]:
    options = {"timeout_s": 5.0, "max_bytes": 100, **options}
    return await fetch_text(url, user_agent="test", **options)


async def test_it_gets_a_page(base: str, routes: Routes) -> None:
    routes["/a"] = answer("Grüße".encode("latin-1"), content_type="text/html; charset=latin-1")
    assert await fetch(f"{base}/a") == ("Grüße", False)


async def test_a_long_page_is_cut(base: str, routes: Routes) -> None:
    routes["/a"] = answer(b"x" * 101)
    assert await fetch(f"{base}/a") == ("x" * 100, True)


async def test_redirects_are_followed_a_few_times(base: str, routes: Routes) -> None:
    routes["/a"] = answer(status=302, location="/b")
    routes["/b"] = answer(b"there")
    routes["/loop"] = answer(status=301, location="/loop")
    assert await fetch(f"{base}/a") == ("there", False)
    with pytest.raises(FetchError, match="redirects too often"):
        await fetch(f"{base}/loop")


@pytest.mark.parametrize(
    ("send", "why"),
    [
        (answer(status=404), "answered 404"),
        (answer(b"\x89PNG", content_type="image/png"), "no text but image/png"),
        (answer(b"x", content_encoding="gzip"), "compressed"),
        (answer(status=302, location="ftp://example.com/"), "must start with http"),
        (answer(status=302, location="http://u:p@example.com/"), "password"),
    ],
)
async def test_what_is_no_page_is_refused(
    base: str, routes: Routes, send: Callable[[BaseHTTPRequestHandler], None], why: str
) -> None:
    routes["/a"] = send
    with pytest.raises(FetchError, match=why):
        await fetch(f"{base}/a")


async def test_a_slow_page_is_given_up(base: str, routes: Routes) -> None:
    gone = threading.Event()
    routes["/a"] = lambda _handler: gone.wait(5) and None
    try:
        with pytest.raises(FetchError, match=NO_ANSWER):
            await fetch(f"{base}/a", timeout_s=0.2)
    finally:
        gone.set()


async def test_an_address_that_swallows_everything_hides_no_other(
    base: str, routes: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(*_: object) -> list[Address | None]:
        return [parse_address("127.0.0.2"), parse_address("127.0.0.1")]

    monkeypatch.setattr(outbound, "resolve", resolve)
    routes["/a"] = answer(b"there")
    port = base.rpartition(":")[2]
    with swallow("127.0.0.2", int(port)):
        assert await fetch(f"http://name.test:{port}/a", timeout_s=2.0) == ("there", False)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]"],
)
@pytest.mark.usefixtures("private_closed")
async def test_no_private_address_is_reached(host: str) -> None:
    with pytest.raises(FetchError, match=NO_ANSWER):
        await fetch(f"http://{host}/")


@pytest.mark.usefixtures("private_closed")
async def test_a_name_is_judged_by_the_address_that_is_connected_to(
    base: str, routes: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def resolve(host: Any, port: Any, *_args: Any, **_more: Any) -> list[Any]:
        asked.append(host)
        # Another answer each time, as who rebinds a name would give it.
        address = "10.0.0.1" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    port = base.rpartition(":")[2]
    with pytest.raises(FetchError, match=NO_ANSWER):
        await fetch(f"http://name.example.com:{port}/")
    assert asked == ["name.example.com"]


async def test_a_page_that_does_not_end_is_given_up(base: str, routes: Routes) -> None:
    gone = threading.Event()

    def stall(handler: BaseHTTPRequestHandler) -> None:
        raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nsome")(handler)
        gone.wait(5)

    routes["/a"] = stall
    try:
        with pytest.raises(FetchError, match=r"longer than 0.2 s"):
            await fetch(f"{base}/a", timeout_s=0.2)
    finally:
        gone.set()


async def test_a_redirect_is_judged_like_the_first_address(
    base: str, routes: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes["/a"] = answer(status=302, location="http://169.254.169.254/latest/meta-data/")
    with pytest.raises(FetchError, match=NO_ANSWER):
        await fetch(f"{base}/a")


async def test_a_cancelled_fetch_ends(base: str, routes: Routes) -> None:
    gone = threading.Event()
    routes["/a"] = lambda _handler: gone.wait(5) and None
    task = asyncio.create_task(fetch(f"{base}/a"))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gone.set()
