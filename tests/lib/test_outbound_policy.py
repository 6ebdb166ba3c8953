from __future__ import annotations

import ipaddress
import time

import httpcore
import pytest
from pytest_django import Settings

from opencode_web.lib import outbound
from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.outbound import GuardedBackend, GuardedTransport
from opencode_web.lib.outbound_policy import (
    is_listed,
    parse_place,
    require_open,
    require_open_text,
)
from tests.web_server import Routes, answer, serve

pytestmark = pytest.mark.usefixtures("private_closed")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("localhost:11434", "localhost:11434"),
        (" LOCALHOST. ", "localhost"),
        ("10.0.0.5", "10.0.0.5"),
        ("10.0.0.5/32:80", "10.0.0.5:80"),
        ("10.1.2.3/8:443", "10.0.0.0/8:443"),
        ("fd12::/16", "fd12::/16"),
        ("[fd12::/16]:443", "[fd12::/16]:443"),
        ("::1", "::1"),
        ("[::1]:80", "[::1]:80"),
        ("bücher.lan", "xn--bcher-kva.lan"),
    ],
)
def test_a_place_has_one_spelling(text: str, shown: str) -> None:
    assert str(parse_place(text)) == shown
    assert parse_place(shown) == parse_place(text)


@pytest.mark.parametrize(
    "text", ["", "*", "http://x", "x:0", "x:99999", "x:y", "a b", "127.1", "10.0.0.0/33", "x/8"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_place(text)


@pytest.mark.parametrize(
    ("listed", "host", "port", "address", "is_open"),
    [
        ("", "api.example.com", 443, "93.184.216.34", True),
        ("", "git.lan", 443, "10.0.0.5", False),
        ("git.lan", "git.lan", 443, "10.0.0.5", True),
        ("git.lan", "GIT.lan.", 443, "10.0.0.5", True),
        ("git.lan", "sub.git.lan", 443, "10.0.0.5", False),
        ("git.lan:443", "git.lan", 80, "10.0.0.5", False),
        ("git.lan", "rebound.example.com", 443, "10.0.0.5", False),
        ("10.0.0.0/24:443", "any.example.com", 443, "10.0.0.5", True),
        ("10.0.0.0/24:443", "any.example.com", 443, "10.0.1.5", False),
        ("127.0.0.0/8", "x", 80, "::ffff:127.0.0.1", True),
        ("127.0.0.0/8", "x", 80, "::1", False),
        ("0.0.0.0/0", "x", 80, "169.254.169.254", False),
        ("::/0", "x", 80, "fd00:ec2::254", False),
        ("metadata.lan", "metadata.lan", 80, "169.254.169.254", False),
    ],
)
async def test_private_places_are_open_where_they_are_listed(
    settings: Settings, listed: str, host: str, port: int, address: str, is_open: bool
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = [listed] if listed else []
    found = [ipaddress.ip_address(address)]
    if is_open:
        await require_open(host, port, found)
        return
    with pytest.raises(RefusedAddress):
        await require_open(host, port, found)
    with pytest.raises(RefusedAddress):
        await require_open(host, port, [ipaddress.ip_address("93.184.216.34"), *found])


def test_what_is_typed_is_judged_as_far_as_it_is_an_address(settings: Settings) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["localhost:11434", "10.0.0.0/8"]
    require_open_text("localhost", 11434)
    require_open_text("10.9.9.9", 1)
    require_open_text("not-looked-up.lan", 80)
    for host, port in (("localhost", 80), ("x.localhost", 80), ("127.0.0.1", 11434), ("::1", 1)):
        with pytest.raises(RefusedAddress, match="unless an operator allows"):
            require_open_text(host, port)
    assert is_listed("localhost", 11434)
    assert is_listed("10.9.9.9", 1)
    assert not is_listed("api.example.com", 80)


async def test_a_place_that_is_closed_again_is_not_reached_over_an_old_connection(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1"]
    asked: list[object] = []
    routes: Routes = {"/a": lambda one: (asked.append(one), answer(b"here")(one))}
    with serve(routes, version="HTTP/1.1") as base:
        async with (
            # Longer than httpcore keeps an idle connection by itself.
            GuardedTransport(keepalive_expiry=60) as transport,
            outbound.httpx.AsyncClient(transport=transport) as client,
        ):
            for _ in range(2):
                assert (await client.get(f"{base}/a")).text == "here"
            # The second one came over the connection of the first.
            assert asked[0] is asked[1]
            settings.ALLOWED_PRIVATE_ADDRESSES = []
            now = time.monotonic()
            monkeypatch.setattr(time, "monotonic", lambda: now + 6)
            with pytest.raises(outbound.NoAnswer):
                await client.get(f"{base}/a")


async def test_what_is_closed_is_refused_before_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    async def connect(*args: object, **_: object) -> None:
        tried.append(str(args))

    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    with pytest.raises(httpcore.ConnectError):
        await GuardedBackend().connect_tcp("127.0.0.1", 80)
    assert tried == []
