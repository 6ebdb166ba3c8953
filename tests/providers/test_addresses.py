from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from typing import Any

import httpcore
import pytest
from pytest_django import Settings

from opencode_web.lib.addresses import RefusedAddress, is_public, resolve
from opencode_web.lib.outbound import GuardedBackend
from providers.addresses import check_base_url, closed_place


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        (" http://127.0.0.1:11434/v1 ", "http://127.0.0.1:11434/v1"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://192.168.1.5/v1?x=1#y", "http://192.168.1.5/v1"),
    ],
)
def test_it_takes_http_addresses(url: str, kept: str, settings: Settings) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1", "localhost:8000", "::1", "192.168.0.0/16"]
    assert check_base_url(url) == kept


ALWAYS_REFUSED = [
    "ftp://x/",
    "file:///etc/passwd",
    "https://",
    "example.com/v1",
    "http://x:99999/",
    "http://[::1",
    "https://user:pass@example.com/",
    "http://169.254.169.254/latest",
    "http://169.254.0.1/",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://224.0.0.1/",
    "http://metadata.google.internal/",
    "http://METADATA.google.internal./",
]


def test_it_refuses_what_no_provider_has(subtests: pytest.Subtests) -> None:
    for url in ALWAYS_REFUSED:
        with subtests.test(url=url), pytest.raises(RefusedAddress):
            check_base_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://localhost/", "http://10.1.2.3/", "http://192.168.0.1/",
        "http://[::1]/", "http://[fd12::1]/", "http://0.0.0.0/", "http://100.64.0.1/",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("private_closed")
def test_private_addresses_need_the_operators_permission(url: str, settings: Settings) -> None:
    with pytest.raises(RefusedAddress, match="private"):
        check_base_url(url)
    place = closed_place(url)
    assert place.endswith(":80")
    settings.ALLOWED_PRIVATE_ADDRESSES = [place]
    assert check_base_url(url)


def test_a_public_address_needs_none() -> None:
    assert is_public(ipaddress.ip_address("93.184.216.34"))


@pytest.mark.parametrize("host", ["2852039166", "0xa9fea9fe", "rebound.example.com"])
async def test_a_name_is_judged_by_what_it_resolves_to(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolve(*_args: Any, **_kwargs: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert check_base_url(f"http://{host}/")
    with pytest.raises(httpcore.ConnectError) as info:
        await GuardedBackend().connect_tcp(host, 80)
    assert isinstance(info.value.__cause__, RefusedAddress)


async def test_names_that_are_answered_late_keep_no_thread_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()

    def late(*_args: Any, **_kwargs: Any) -> list[Any]:
        answered.wait(60)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", late)
    lookups = [asyncio.create_task(resolve("late.example.com", 443)) for _ in range(50)]
    try:
        # All of them have begun, or wait for a thread.
        await asyncio.sleep(0)
        async with asyncio.timeout(30):
            assert await asyncio.to_thread(str, "free") == "free"
    finally:
        answered.set()
        await asyncio.wait(lookups)
    assert all(isinstance(one.exception(), OSError) for one in lookups)
