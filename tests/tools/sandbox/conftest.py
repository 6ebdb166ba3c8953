from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.sandbox.networks import NAMES, Fetch, limited
from tests.web_server import Routes, serve
from tools.sandbox.base import Command, Exit, Sandbox
from tools.sandbox.select import probe, select_sandbox

Run = Callable[..., Awaitable[tuple[Exit, str]]]


@pytest.fixture
def session_dir(tmp_path: Path) -> Path:
    return tmp_path / "session"


@pytest.fixture
def sandbox(worktree: Path, session_dir: Path) -> Sandbox:
    report = probe()
    assert report.ok, report.sentence
    return select_sandbox(worktree=worktree, session_dir=session_dir, network=False)


@pytest.fixture
def run(sandbox: Sandbox, worktree: Path) -> Run:
    async def run_command(
        text: str, *, timeout_s: float | None = 20, network: bool = False
    ) -> tuple[Exit, str]:
        output = bytearray()

        async def take(chunk: bytes) -> None:
            output.extend(chunk)

        command = Command(("bash", "-c", text), worktree, timeout_s, network=network)
        ended = await sandbox.run(command, on_output=take)
        return ended, output.decode("utf-8", "replace")

    return run_command


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names that resolve to loopback, and those that were looked up."""
    known = socket.getaddrinfo
    asked: list[str] = []

    def resolve(host: Any, port: Any, *args: Any, **more: Any) -> Any:
        asked.append(str(host))
        if host in NAMES:
            kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
            return [(*kind, (address, port)) for address in NAMES[host]]
        if str(host).endswith(".test"):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return known(host, port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.fixture
def routes() -> Routes:
    return {}


@pytest.fixture
def port(routes: Routes) -> Iterator[str]:
    with serve(routes) as base:
        yield base.rpartition(":")[2]


@pytest.fixture
def fetch(worktree: Path, session_dir: Path, asked: list[str], port: str) -> Fetch:
    """Run a command, `PORT` filled in, that may reach what is below registry.test and itself."""

    async def run(
        text: str, *patterns: str, private: bool = True, network: bool = True
    ) -> tuple[str, Exit]:
        patterns = patterns or (f"*.registry.test:{port}", f"registry.test:{port}")
        patterns = tuple(pattern.replace("PORT", port) for pattern in patterns)
        sandbox = limited(worktree, session_dir, *patterns, private=private)
        output = bytearray()

        async def take(chunk: bytes) -> None:
            output.extend(chunk)

        command = Command(("bash", "-c", text.replace("PORT", port)), worktree, 60, network=network)
        ended = await sandbox.run(command, on_output=take)
        return output.decode("utf-8", "replace"), ended

    return run
