"""Our server: embedded as `make run` starts it, and with PostgreSQL and Redis."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from bench.api import Address, Json
from bench.npm import Unavailable
from bench.processes import free_port
from bench.repository import Repository, copy_repository, make_large, make_repository
from bench.server import Server, SignIn, opencode_config

ROOT = Path(__file__).resolve().parents[1]
_SIGN_IN = SignIn("bench@example.com", "a-long-benchmark-password")
_DEFAULT_POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"
_MANAGE_S = 180


def embedded(work: Path, endpoint: str) -> Server:
    """Everything in one process, on SQLite."""
    return _set_up(work, endpoint, key="embedded", title="ours, embedded", more={}, arguments=[])


@contextmanager
def scaled(work: Path, endpoint: str) -> Iterator[Server]:
    """Web, one worker and beat as processes, on a PostgreSQL database and a Redis of their own.

    Raises: Unavailable when there is no PostgreSQL or no Redis.
    """
    work.mkdir(parents=True)
    with _own_redis(work) as (redis_url, redis), _own_database() as (database_url, name):
        more = {
            "REDIS_URL": redis_url,
            "DATABASE_URL": database_url,
            "SECRET_KEY": secrets.token_urlsafe(50),
        }
        server = _set_up(
            work / "server",
            endpoint,
            key="scaled",
            title="ours, PostgreSQL + Redis",
            more=more,
            arguments=["--workers", "1"],
        )
        yield replace(
            server,
            others=lambda: [psutil.Process(redis), *_backends(name)],
            settle_database=lambda: _analyze(database_url),
        )


def _set_up(
    work: Path, endpoint: str, *, key: str, title: str, more: dict[str, str], arguments: list[str]
) -> Server:
    data = work / "data"
    worktrees = data / "worktrees"
    repository = make_repository(worktrees / "repository")
    env = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(work),
        "OPENCODE_WEB_DATA": str(data),
        "API_REQUESTS_PER_MINUTE": "0",
        "ALLOWED_PRIVATE_ADDRESSES": "127.0.0.1",
        **more,
    }
    _manage(env, "migrate", "--verbosity", "0")
    config = opencode_config(endpoint)
    token = str(_seed(env, "installation", **asdict(_SIGN_IN))["token"])

    def add(repositories: list[Repository]) -> list[Repository]:
        _seed(env, "projects", directories=[one.directory for one in repositories], config=config)
        return repositories

    add([repository])
    port = free_port()
    return Server(
        key=key,
        title=title,
        address=Address(
            f"http://127.0.0.1:{port}", repository.directory, {"Authorization": f"Bearer {token}"}
        ),
        command=[sys.executable, "manage.py", "up", "--port", str(port), *arguments],
        env=env,
        cwd=ROOT,
        log=work / "server.log",
        page="/login",
        repository=repository,
        add_repositories=lambda count: add(
            copy_repository(repository, worktrees / "more", count=count)
        ),
        add_large=lambda: add([make_large(worktrees / "large")])[0],
        sign_in=_SIGN_IN,
        measure_snapshots=lambda folder: _call(env, "snapshot_cost", "measure", folder=folder),
    )


def _seed(env: dict[str, str], function: str, **wanted: object) -> Json:
    """Call a function of `bench.seed` in our server's Django. Returns: what it prints."""
    return _call(env, "seed", function, **wanted)


def _call(env: dict[str, str], module: str, function: str, **wanted: object) -> Json:
    code = f"from bench import {module}; {module}.{function}(**{wanted!r})"
    said = _manage(env, "shell", "--no-imports", "-c", code)
    found: Json = json.loads(said.strip().splitlines()[-1])
    return found


def _manage(env: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=_MANAGE_S,
    )
    if done.returncode:
        raise RuntimeError(f"manage.py {arguments[0]} failed:\n{done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def _own_redis(work: Path) -> Iterator[tuple[str, int]]:
    program = shutil.which("redis-server")
    if program is None:
        raise Unavailable("redis-server is not installed")
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(work)]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        if process.poll() is not None:
            raise Unavailable("redis-server does not start")
        yield f"redis://127.0.0.1:{port}/0", process.pid
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def _own_database() -> Iterator[tuple[str, str]]:
    url = os.environ.get("BENCH_DATABASE_URL", _DEFAULT_POSTGRES)
    name = f"ocw_bench_{os.getpid()}"
    try:
        connection = psycopg.connect(url, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as exc:
        raise Unavailable("no PostgreSQL answers; BENCH_DATABASE_URL names another one") from exc
    with connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name}")), name
    finally:
        with psycopg.connect(url, autocommit=True) as again:
            again.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _analyze(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def _backends(database: str) -> list[psutil.Process]:
    """PostgreSQL's processes for this database, where the system lets us see them."""
    found = []
    for one in psutil.process_iter(["cmdline"]):
        title = " ".join(one.info["cmdline"] or [])
        if title.startswith("postgres:") and f" {database} " in f"{title} ":
            found.append(one)
    return found
