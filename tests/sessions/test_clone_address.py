from __future__ import annotations

import pytest
from pytest_django import Settings

from sessions.git import clone_address
from sessions.git.clone_address import AddressRefused, Pin, pin_address
from sessions.git.clone_errors import UNREACHED
from sessions.git.process import git_environment

pytestmark = pytest.mark.any_database


@pytest.fixture(autouse=True)
def no_proxy(private_closed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    real = clone_address.resolve

    async def resolve(host: str, port: int) -> list[str]:
        return known[host] if host in known else list(map(str, await real(host, port)))

    monkeypatch.setattr(clone_address, "_resolve", resolve)
    return known


async def test_git_is_told_the_addresses_that_were_judged(names: dict[str, list[str]]) -> None:
    names["host"] = ["140.82.1.2", "2606:50c0::1"]
    assert await pin_address("https://host/code") == Pin(
        config={"http.curloptResolve": "host:443:140.82.1.2,[2606:50c0::1]"}
    )
    pin = await pin_address("ssh://git@host:2222/code")
    assert pin.ssh_options == ("HostName=140.82.1.2", "HostKeyAlias=[host]:2222")
    environment = git_environment(ssh_options=pin.ssh_options)
    assert "-o 'HostName=140.82.1.2'" in environment["GIT_SSH_COMMAND"]
    assert await pin_address("https://140.82.1.2/code") == Pin()
    assert await pin_address("file:///code") == Pin()


@pytest.mark.parametrize("scheme", ["http", "https", "ssh"])
@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200"],
)
async def test_metadata_addresses_are_always_refused(
    names: dict[str, list[str]], settings: Settings, scheme: str, address: str
) -> None:
    names["host"] = ["140.82.1.2", address]
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address(f"{scheme}://host/code")
    literal = f"[{address}]" if ":" in address else address
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address(f"{scheme}://{literal}/code")


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fd12::1", "192.168.0.1"])
async def test_private_addresses_are_for_the_operator_to_allow(
    names: dict[str, list[str]], settings: Settings, address: str
) -> None:
    names["host"] = [address]
    settings.ALLOWED_PRIVATE_ADDRESSES = ["host:80"]
    assert (await pin_address("http://host/code")).config
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address("http://host:8080/code")


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "localhost"])
async def test_other_ways_to_write_loopback_are_seen(settings: Settings, host: str) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address(f"http://{host}/code")


async def test_behind_a_proxy_names_are_left_to_it(
    monkeypatch: pytest.MonkeyPatch, names: dict[str, list[str]], settings: Settings
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "inside")
    settings.ALLOWED_PRIVATE_ADDRESSES = ["inside"]
    names["inside"] = ["10.0.0.1"]
    assert await pin_address("https://host/code") == Pin()
    assert (await pin_address("https://inside/code")).config
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address("https://169.254.169.254/code")


async def test_an_unknown_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address("https://does-not-exist.invalid/code")
    with pytest.raises(AddressRefused, match=UNREACHED):
        await pin_address(f"https://{'a' * 70}..b/code")
