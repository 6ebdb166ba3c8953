from __future__ import annotations

import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.opencode_web.server import (
    UpServer,
    environment,
    free_port,
    manage,
    processes_of_session,
    submit,
    up_to_date,
)

OWNER = {
    "name": "Olga",
    "email": "olga@example.com",
    "password": "correct-horse-battery",
    "team_name": "Acme",
}

# The embedded default, whatever database the other tests have.
pytestmark = [pytest.mark.e2e, pytest.mark.any_database]


IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


@contextmanager
def in_the_background() -> Iterator[None]:
    """As a shell starts `nohup make run &`: what is started ignores and blocks signals."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in IGNORED}
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
        for number, handler in before.items():
            signal.signal(number, handler)


def masks(pid: int, name: str) -> set[int]:
    """Returns: what all threads of a process ignore (SigIgn) or block (SigBlk)."""
    found: set[int] = set()
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        line = re.search(rf"{name}:\s*(\w+)", status.read_text())
        assert line
        found |= {number for number in range(1, 32) if int(line[1], 16) & 1 << number - 1}
    return found


@pytest.mark.deep
def test_the_first_start_makes_an_owner_and_the_second_keeps_everything(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    with UpServer(env) as server, httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as web:
        assert server.url.startswith(f"http://127.0.0.1:{server.port}/setup?key=")
        key = tmp_path / "data" / "setup_key"
        assert key.stat().st_mode & 0o777 == 0o600
        assert key.parent.stat().st_mode & 0o777 == 0o700
        made = submit(web, server.url, OWNER)
        assert made.status_code == 302
        assert re.fullmatch(r"/t/acme/p/prj_\w+/", made.headers["location"])
        assert not key.exists()
        assert web.get("/setup").headers["location"] == "/login"
        assert [line for line in server.lines if "http://" in line] == [server.wait_for("http://")]
        assert "Traceback (most recent call last):" not in server.lines
        assert server.stop() == 0
        assert processes_of_session(server.process.pid) == []

    with (
        in_the_background(),
        UpServer(env) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as web,
    ):
        assert server.url == f"http://127.0.0.1:{server.port}"
        # Only these two may be: `subprocess` gives a child their default back.
        assert masks(server.process.pid, "SigIgn") <= {signal.SIGPIPE, signal.SIGXFSZ}
        assert masks(server.process.pid, "SigBlk") == set()
        server.process.send_signal(signal.SIGHUP)
        server.process.send_signal(signal.SIGQUIT)
        signed_in = submit(web, "/login", {"login": OWNER["email"], "password": OWNER["password"]})
        assert signed_in.status_code == 302
        assert web.get("/", follow_redirects=True).url.path.startswith("/t/acme/")
        assert server.stop(signal.SIGTERM) == 0
        assert processes_of_session(server.process.pid) == []


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up") / "data"


@pytest.fixture(scope="module")
def running(data: Path) -> Iterator[UpServer]:
    with UpServer(up_to_date(data)) as server:
        yield server


def test_static_files_with_a_hashed_name_are_immutable(running: UpServer) -> None:
    page = httpx.get(f"http://127.0.0.1:{running.port}/login")
    style = re.search(r'href="(/static/css/tokens\.[0-9a-f]{12}\.css)"', page.text)
    assert style
    answer = httpx.get(f"http://127.0.0.1:{running.port}{style[1]}")
    assert answer.status_code == 200
    assert "immutable" in answer.headers["cache-control"]
    assert not answer.headers.keys() & {"etag", "last-modified"}
    assert answer.headers["content-type"].startswith("text/css")


def test_only_one_server_runs_on_a_data_folder(running: UpServer, data: Path) -> None:
    second = manage("up", "--port", str(free_port()), env=environment(data))
    assert second.returncode == 1
    assert f"Another server (process {running.process.pid}) already runs" in second.stderr
    assert running.process.poll() is None


@pytest.mark.deep
def test_a_busy_port_is_told_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        done = manage("up", env=environment(tmp_path, PORT=str(port)))
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"Port {port} on 127.0.0.1 cannot be used" in done.stderr
    assert f"PORT={port + 1}" in done.stderr


def test_a_missing_git_is_told_in_one_sentence(tmp_path: Path) -> None:
    done = manage("up", env=environment(tmp_path / "data", PATH=str(tmp_path)))
    assert done.returncode == 1
    expected = "git is not installed: install git 2.30 or newer, then start again."
    assert done.stderr.strip() == expected


def test_an_old_git_is_told_in_one_sentence(tmp_path: Path) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\necho git version 2.20.1\n")
    git.chmod(0o755)
    done = manage("up", env=environment(tmp_path / "data", PATH=f"{tmp_path}:/usr/bin:/bin"))
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "git is too old (git version 2.20.1): install git 2.30 or newer."
    )


@pytest.mark.parametrize("given", [{}, {"SECRET_KEY": "x" * 40}])
def test_an_unusable_data_folder_is_told_in_one_sentence(
    tmp_path: Path, given: dict[str, str]
) -> None:
    # A file in its place, which stops root too.
    (tmp_path / "data").write_text("")
    done = manage("up", env=environment(tmp_path / "data", **given))
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"folder {tmp_path / 'data'} cannot be used" in done.stderr
    assert "OPENCODE_WEB_DATA" in done.stderr


def test_workers_of_their_own_need_redis(tmp_path: Path) -> None:
    done = manage("up", "--workers", "2", env=environment(tmp_path))
    assert done.returncode == 1
    assert "--workers needs REDIS_URL and DATABASE_URL" in done.stderr


def test_unsafe_settings_stop_the_start(tmp_path: Path) -> None:
    done = manage("up", env=environment(tmp_path, ALLOWED_HOSTS="*"))
    assert done.returncode == 1
    assert "opencode_web.E003" in done.stderr
    assert not (tmp_path / "db.sqlite3").exists()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "web", "PORT must be a whole number, not 'web'."),
        ("WEB_THREADS", "0", "WEB_THREADS must be at least 1, not 0."),
    ],
)
def test_a_number_that_does_not_fit_is_told_in_one_sentence(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    done = manage("up", env=environment(tmp_path, **{name: value}))
    assert done.returncode == 1
    assert done.stderr.strip() == sentence


@pytest.mark.deep
def test_a_server_whose_worker_cannot_start_does_not_go_on(tmp_path: Path) -> None:
    path = str(tmp_path / "path")
    env = up_to_date(tmp_path / "data", WORKER_CONCURRENCY="1", PYTHONPATH=path)
    (tmp_path / "path").mkdir()
    # Breaks what only the worker imports, once the pages are there.
    (tmp_path / "path" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['opencode_web.work'] = None\n"
    )
    server = UpServer(env)
    try:
        assert server.process.wait(60) == 1
        server.wait_for("The worker ended by itself.")
    finally:
        server.__exit__(None, None, None)


@pytest.mark.deep
@pytest.mark.parametrize("delay_s", [0.3, 0.8, 1.2])
def test_ctrl_c_also_stops_a_server_that_is_only_starting(tmp_path: Path, delay_s: float) -> None:
    server = UpServer(environment(tmp_path))
    try:
        time.sleep(delay_s)
        assert server.stop() in {0, 130}
        assert not any("Traceback" in line for line in server.lines)
        assert processes_of_session(server.process.pid) == []
    finally:
        server.__exit__(None, None, None)
