from __future__ import annotations

import contextlib
import functools
import http.server
import logging
import shutil
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.outbound import NO_ANSWER
from tests.tools.sandbox.networks import Fetch, limited
from tests.web_server import Routes, answer
from tools.sandbox import entrance
from tools.sandbox.base import Command
from tools.sandbox.pty import Size, open_terminal

PYTHON = "python3 -c"
URLLIB = f"""{PYTHON} "import urllib.request as u
print(u.urlopen('http://registry.test:PORT/a').read().decode())" """


@pytest.mark.parametrize(
    "command",
    [
        "curl -sS http://registry.test:PORT/a",
        "curl -sS --proxytunnel http://registry.test:PORT/a",
        "curl -sS http://REGISTRY.test.:PORT/a",
        "curl -sS http://mirror.registry.test:PORT/a",
        # Over one connection to the proxy.
        "curl -sS http://registry.test:PORT/b http://mirror.registry.test:PORT/a",
        URLLIB,
        "HTTP_PROXY= http_proxy= curl -sS http://registry.test:PORT/a",
    ],
)
async def test_programs_reach_what_is_on_the_list(
    fetch: Fetch, routes: Routes, asked: list[str], command: str
) -> None:
    routes["/a"] = answer(b"it came")
    routes["/b"] = answer(b"")
    said, ended = await fetch(command)
    assert said.strip() == "it came"
    assert (ended.code, ended.refused) == (0, ())
    assert set(asked) <= {"registry.test", "mirror.registry.test", "127.0.0.1"}


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("curl -sS http://evilregistry.test:PORT/a", ()),
        ("curl -sS --proxytunnel http://evilregistry.test:PORT/a", ()),
        ("curl -sS http://registry.test.evil.test:PORT/a", ()),
        ("curl -sS http://registry.test:PORT/a", ("*.registry.test:PORT",)),
        ("curl -sS http://registry.test:PORT/a", ("registry.test",)),
        ("curl -sS -x 127.0.0.1:3128 --noproxy '' http://127.0.0.1:PORT/a", ()),
        ("curl -sS -p -x 127.0.0.1:3128 --noproxy '' http://127.0.0.1:PORT/a", ("*:PORT",)),
        ("curl -sS -p -x 127.0.0.1:3128 --noproxy '' http://[::1]:PORT/a", ("*:PORT",)),
    ],
)
async def test_what_is_not_on_the_list_is_refused_with_a_reason(
    fetch: Fetch,
    routes: Routes,
    asked: list[str],
    caplog: pytest.LogCaptureFixture,
    command: str,
    patterns: tuple[str, ...],
) -> None:
    routes["/a"] = answer(b"it came")
    caplog.set_level(logging.INFO, "tools.sandbox.proxy")
    said, ended = await fetch(command, *patterns)
    assert "it came" not in said
    assert asked in ([], ["127.0.0.1"])
    (reason,) = ended.refused
    assert "is not on the team's list of hosts that commands may reach" in reason
    assert reason in caplog.text
    assert "/a" not in caplog.text


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("metadata.test", "http://metadata.test/latest/meta-data/"),
        ("registry.test:PORT", "http://registry.test:PORT/a"),
        ("127.0.0.1:PORT", "http://127.0.0.1:PORT/a"),
        # One address that may not be reached is enough.
        ("mixed.test", "http://mixed.test/"),
    ],
)
@pytest.mark.parametrize("tunnel", ["", "--proxytunnel"])
@pytest.mark.usefixtures("private_closed")
async def test_a_listed_name_reaches_no_internal_address(
    fetch: Fetch, routes: Routes, pattern: str, url: str, tunnel: str
) -> None:
    routes["/a"] = answer(b"it came")
    said, ended = await fetch(
        f"curl -sS {tunnel} -x 127.0.0.1:3128 --noproxy '' {url}", pattern, private=False
    )
    assert "it came" not in said
    assert ended.refused == ()


@pytest.mark.usefixtures("private_closed")
async def test_a_name_is_looked_up_once_and_that_address_is_used(
    fetch: Fetch, routes: Routes, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes["/a"] = answer(b"it came")
    answers = iter([["10.0.0.1"], ["127.0.0.1"]])

    def rebound(host: Any, port: Any, *_args: Any, **_more: Any) -> Any:
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in next(answers)]

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    said, _ = await fetch("curl -sS http://registry.test:PORT/a", private=False)
    assert NO_ANSWER in said


@pytest.mark.parametrize(
    "command",
    [
        "curl -sS --noproxy '*' http://127.0.0.1:PORT/a",
        "curl -sS --noproxy '*' http://registry.test:PORT/a",
        "exec 3<>/dev/tcp/127.0.0.1/PORT && cat <&3",
        f"""{PYTHON} "import socket; socket.create_connection(('127.0.0.1', PORT))" """,
        f"""{PYTHON} "import socket; socket.create_connection(('203.0.113.1', 80), 1)" """,
    ],
)
async def test_past_the_proxy_there_is_no_way(fetch: Fetch, routes: Routes, command: str) -> None:
    routes["/a"] = answer(b"it came")
    said, ended = await fetch(command)
    assert ended.code
    assert "it came" not in said


async def test_a_command_that_wants_no_network_finds_no_proxy(fetch: Fetch, routes: Routes) -> None:
    said, ended = await fetch("env | grep -i proxy; exec 3<>/dev/tcp/127.0.0.1/3128", network=False)
    assert ended.code == 1
    assert "refused" in said
    assert "proxy" not in said.lower()


async def test_git_clones_and_pushes_nothing_elsewhere(fetch: Fetch, tmp_path: Path) -> None:
    bare = tmp_path / "site" / "repository.git"
    made = (
        ["git", "init", "-q", "-b", "main", str(tmp_path / "source")],
        ["git", "-C", str(tmp_path / "source"), "-c", "user.name=a", "-c", "user.email=a@b.c",
         "commit", "-q", "--allow-empty", "-m", "The commit"],
        ["git", "clone", "-q", "--bare", str(tmp_path / "source"), str(bare)],
        ["git", "-C", str(bare), "update-server-info"],
    )  # fmt: skip
    for command in made:
        subprocess.run(command, check=True)
    with files(tmp_path / "site") as port:
        said, ended = await fetch(
            f"git clone -q http://registry.test:{port}/repository.git c && git -C c log --oneline;"
            f"git clone -q http://evilregistry.test:{port}/repository.git d",
            f"registry.test:{port}",
        )
    assert "The commit" in said
    assert "403" in said
    assert len(ended.refused) == 1


@contextlib.contextmanager
def files(folder: Path) -> Iterator[int]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def test_signals_exit_codes_and_descriptors_are_as_without_the_proxy(fetch: Fetch) -> None:
    said, ended = await fetch(
        "grep SigIgn /proc/self/status; ls /proc/self/fd; env | grep -c PYTHON; exit 7"
    )
    _, ignored, *rest = said.split()
    # Of the real-time signals some libraries of this process may ignore one.
    assert int(ignored, 16) & 0x7FFF_FFFF == 0
    assert rest == ["0", "1", "2", "3", "0"]
    assert ended.code == 7


async def test_without_an_interpreter_commands_run_and_say_that_they_had_no_network(
    fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "_PLACES", (Path("/nowhere/python3"),))
    monkeypatch.setattr("tools.sandbox.bubblewrap.interpreter_prefix", lambda layout: None)
    said, ended = await fetch("echo ran; curl -sS http://registry.test:PORT/a")
    assert said.startswith("ran")
    assert ended.refused == (entrance.NO_INTERPRETER,)


async def test_a_terminal_has_the_same_way_out(
    worktree: Path, session_dir: Path, asked: list[str], routes: Routes, port: str
) -> None:
    routes["/a"] = answer(b"it came")
    sandbox = limited(worktree, session_dir, f"registry.test:{port}")
    text = f"curl -sS http://registry.test:{port}/a; curl -sS http://evilregistry.test:{port}/a"
    command = Command(("bash", "-c", text), worktree, None, network=True)
    async with open_terminal(sandbox, command, Size()) as terminal:
        said = "".join([chunk.decode() async for chunk in _read(terminal.read)])
        assert await terminal.wait() == 0
    assert "it came" in said
    assert "is not on the team's list" in said


async def _read(read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    while chunk := await read():
        yield chunk


@pytest.mark.parametrize("program", ["pip", "npm"])
async def test_package_managers_use_it(fetch: Fetch, program: str) -> None:
    if not shutil.which(program, path="/usr/bin:/usr/local/bin"):
        pytest.skip(f"{program} is not installed here")
    commands = {
        "pip": "python3 -m pip download --retries 0 --no-cache-dir -i https://x.test/simple thing",
        "npm": "npm view thing --registry=https://x.test --fetch-retries=0",
    }
    _, ended = await fetch(commands[program])
    assert "x.test:443 is not on the team's list" in ended.refused[0]
