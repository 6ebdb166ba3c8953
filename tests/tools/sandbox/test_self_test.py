from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tools.sandbox import network_examination, process_cap, self_test
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.hosts import HostRules
from tools.sandbox.select import probe
from tools.sandbox.self_test import Wall, examine_walls
from tools.sandbox.stop_reasons import StopReason
from tools.sandbox.usage import Meter


@pytest.fixture
def bubblewrap() -> Bubblewrap:
    found = probe().bubblewrap
    assert found is not None
    return found


async def walls(bubblewrap: Bubblewrap, *, network: bool = False) -> dict[str, Wall]:
    return {wall.name: wall for wall in await examine_walls(bubblewrap, network=network)}


async def test_every_wall_stands_here(bubblewrap: Bubblewrap) -> None:
    found = await walls(bubblewrap)
    assert [name for name, wall in found.items() if not wall.holds] == []
    assert "user, pid, ipc, uts" in found["namespaces"].detail


async def test_each_wall_is_described_in_the_language_of_who_asks(
    bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (self_test, network_examination):
        monkeypatch.setattr(module, "_", "<{}>".format)
    found = await walls(bubblewrap)
    assert [name for name, wall in found.items() if not wall.detail.startswith("<")] == []


async def test_a_shared_network_is_said_with_what_it_means(bubblewrap: Bubblewrap) -> None:
    wall = (await walls(bubblewrap, network=True))["network"]
    assert not wall.holds
    assert "abstract unix sockets" in wall.detail
    assert "loopback" in wall.detail


async def test_a_list_of_hosts_that_cannot_be_kept_is_found(
    bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "others are not" in (await walls(bubblewrap))["network list"].detail
    with monkeypatch.context() as patch:
        patch.setattr(HostRules, "refusal", lambda *_args: "")
        wall = (await walls(bubblewrap))["network list"]
        assert (wall.holds, "SANDBOX_NETWORK=none" in wall.detail) == (False, True)
    monkeypatch.setattr("tools.sandbox.bubblewrap.find_interpreter", lambda prefix: None)
    assert "install python3" in (await walls(bubblewrap))["network list"].detail


@pytest.mark.deep
async def test_missing_walls_are_found_by_trying(
    bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Meter, "measure", lambda *args, **kwargs: None)
    monkeypatch.setattr(self_test, "_LIMITS", replace(self_test._LIMITS, file_bytes=1 << 30))
    found = await walls(replace(bubblewrap, nested_off=False, filtered=False))
    fallen = {name for name, wall in found.items() if not wall.holds}
    assert fallen == {
        *("seccomp", "privileges"),
        *("memory limit", "process limit", "file size limit"),
    }
    assert "CONFIG_SECCOMP_FILTER" in found["seccomp"].detail
    assert "bubblewrap 0.8" in found["privileges"].detail


async def test_namespaces_are_closed_without_the_filter_too(bubblewrap: Bubblewrap) -> None:
    found = await walls(replace(bubblewrap, filtered=False))
    assert found["privileges"].holds is bubblewrap.nested_off


class Leaky(Bubblewrap):
    def options(self, *args: Any, **kwargs: Any) -> list[str]:
        return [*super().options(*args, **kwargs), "--bind", "/tmp", "/tmp"]


async def test_a_readable_file_outside_is_found(bubblewrap: Bubblewrap) -> None:
    leaky = Leaky(bubblewrap.program, bubblewrap.nested_off)
    assert "must not be allowed" in (await walls(leaky))["files"].detail


@pytest.mark.parametrize(
    ("uid", "capped", "holds"), [(0, False, False), (0, True, True), (9, False, True)]
)
async def test_a_process_limit_that_is_only_watched_is_said(
    monkeypatch: pytest.MonkeyPatch, uid: int, capped: bool, holds: bool
) -> None:
    monkeypatch.setattr(self_test.os, "getuid", lambda: uid)
    monkeypatch.setattr(self_test, "caps_processes", lambda: capped)
    ended = self_test.Exit(137, timed_out=False, duration_s=1, stopped=StopReason.PROCESSES.over(1))
    assert self_test._process_wall(ended, in_cgroup=False).holds is holds


def test_a_cgroup_that_does_not_work_is_said(tmp_path: Path) -> None:
    (wall,) = self_test._cgroup_wall(tmp_path / "missing")
    assert not wall.holds
    assert "Delegate=yes" in wall.detail
    assert list(self_test._cgroup_wall(None)) == []


def test_only_root_needs_the_bound_on_process_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_cap.os, "getuid", lambda: 1000)
    before = Path("/proc/sys/kernel/pid_max").read_text()
    process_cap.caps_processes.cache_clear()
    try:
        assert not process_cap.caps_processes()
    finally:
        process_cap.caps_processes.cache_clear()
    assert Path("/proc/sys/kernel/pid_max").read_text() == before
