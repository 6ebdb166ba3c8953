from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bench.reference import Unavailable, install
from tests.e2e.installation import EMAIL, Installation
from tests.e2e.rest import script, wait_for

pytestmark = pytest.mark.e2e

READ = script([{"tool": "read", "input": {"filePath": "till.py"}}], [{"text": "Answer 42."}])
WRITE = script(
    [{"tool": "write", "input": {"filePath": "made.txt", "content": "by hand"}}],
    [{"text": "Written."}],
)
_CONTROL = re.compile(
    rb"\x1b\[[0-9;:?<>=$]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b."
)


@dataclass(frozen=True)
class Genuine:
    program: Path
    home: Path
    server: Installation

    @property
    def env(self) -> dict[str, str]:
        folders = {
            f"XDG_{name}_HOME": str(self.home / name.lower())
            for name in ("DATA", "STATE", "CACHE", "CONFIG")
        }
        switches = {
            f"OPENCODE_DISABLE_{name}": "1"
            for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "TERMINAL_TITLE")
        }
        base = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "xterm-256color"}
        return {**base, **folders, **switches}

    def command(self, name: str, *more: str, token: str = "") -> list[str]:
        attach = ["--attach", self.server.url] if name == "run" else [self.server.url]
        password = token or self.server.token
        return [str(self.program), name, *attach, "-u", EMAIL, "-p", password, *more]

    def run(self, prompt: str, *more: str, token: str = "") -> subprocess.CompletedProcess[str]:
        # The prompt comes by stdin: the client quotes arguments that have spaces.
        options = ("-m", "demo/inline", *more, "Please.")
        return subprocess.run(
            self.command("run", *options, token=token),
            input=prompt,
            cwd=self.home,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=90,
        )


@pytest.fixture(scope="module")
def genuine(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> Genuine:
    try:
        program = install()
    except Unavailable as exc:
        pytest.skip(f"the genuine client: {exc}")
    return Genuine(program, tmp_path_factory.mktemp("home"), server)


def test_run_prints_the_answer(genuine: Genuine) -> None:
    done = genuine.run(READ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Answer 42."
    assert "Read till.py" in done.stderr


def test_run_never_leaves_before_it_has_printed(genuine: Genuine) -> None:
    # It exits with the answer of the prompt, so its events must have been sent before.
    for number in range(5):
        done = genuine.run(script([{"text": f"Answer {number}."}]))
        assert done.stdout.strip() == f"Answer {number}.", done.stderr


def test_run_goes_on_with_a_session(genuine: Genuine) -> None:
    first = genuine.run(READ, "--format", "json")
    lines = [json.loads(line) for line in first.stdout.splitlines()]
    kinds = {line["type"] for line in lines}
    assert {"step_start", "tool_use", "text", "step_finish"} <= kinds
    session = lines[0]["sessionID"]
    again = genuine.run(script([{"text": "Second answer."}]), "-s", session)
    assert again.stdout.strip() == "Second answer."
    with genuine.server.client() as client:
        messages = client.get(f"/session/{session}/message").json()
    assert [message["info"]["role"] for message in messages].count("user") == 2


def test_run_rejects_or_allows_what_is_asked(genuine: Genuine) -> None:
    rejected = genuine.run(WRITE)
    assert "auto-rejecting" in rejected.stderr
    allowed = genuine.run(WRITE, "--auto")
    assert allowed.stdout.strip() == "Written.", allowed.stderr


def test_run_with_a_wrong_token_fails(genuine: Genuine) -> None:
    done = genuine.run(READ, token="ocw_wrong")
    assert done.returncode == 1
    assert done.stdout == ""


class Screen:
    """What a terminal program has drawn so far, without its control sequences."""

    def __init__(self, fd: int) -> None:
        self._fd, self._raw = fd, b""

    @property
    def text(self) -> str:
        return " ".join(_CONTROL.sub(b" ", self._raw).decode(errors="replace").split())

    def wait(self, text: str, *, seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < deadline, f"no {text!r} in: {self.text[-2000:]}"
            if select.select([self._fd], [], [], 0.1)[0]:
                self._raw += os.read(self._fd, 65_536)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def drain(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self._fd], [], [], 0.05)[0]:
                self._raw += os.read(self._fd, 65_536)


@contextmanager
def terminal(command: list[str], *, env: dict[str, str], cwd: Path) -> Iterator[Screen]:
    fd, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        command,
        env=env,
        cwd=cwd,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield Screen(fd)
    finally:
        process.kill()
        process.wait(10)
        os.close(fd)


def calls_of(client: httpx.Client, session: str) -> dict[str, str]:
    messages = client.get(f"/session/{session}/message").json()
    parts = [part for message in messages for part in message["parts"]]
    return {part["tool"]: part["state"]["status"] for part in parts if part["type"] == "tool"}


def test_attach_prompts_and_asks(genuine: Genuine) -> None:
    with genuine.server.client() as client:
        known = {row["id"] for row in client.get("/session").json()}
        command = genuine.command("attach")
        with terminal(command, env=genuine.env, cwd=genuine.home) as screen:
            screen.wait("Ask anything")
            screen.type("fix the till")
            screen.drain(1)
            screen.type("\r")
            screen.wait("Permission required")
            fresh = [r["id"] for r in client.get("/session").json() if r["id"] not in known]
            assert len(fresh) == 1
            assert calls_of(client, fresh[0])["edit"] == "pending"
            # Drawn is not yet listening: a key that comes with the first frame is lost.
            screen.drain(1)
            screen.type("\r")
            wait_for(lambda: calls_of(client, fresh[0])["edit"] == "completed")
