"""A database with every migration and the collected static files, made once for all that copy them.

Applying the migrations takes ten seconds of a processor, and a run of the tests begins with an
empty database some thirty times. What is made is kept until the migrations change.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from django.core.management.color import no_style
from django.core.management.sql import sql_flush
from django.db.backends.base.base import BaseDatabaseWrapper

ROOT = Path(__file__).resolve().parents[1]
# Beside what pytest keeps, but not where it would be looked for by `--cache-clear`.
_KEPT = ROOT / ".pytest_cache" / "migrated"
_LOCK_FILE = ROOT / "requirements.lock"
_COLLECT = "from opencode_web.upkeep import collect_static_if_changed as c; c()"


def lay_out(data: Path, *, with_database: bool = True) -> None:
    """Make the data folder of a server that has nothing to bring up to date when it starts."""
    data.mkdir(mode=0o700, parents=True)
    if with_database:
        shutil.copyfile(database(), data / "db.sqlite3")
    shutil.copytree(static_files(), data / "static")


def database() -> Path:
    """Returns: a file of SQLite, to be copied."""
    digest = hashlib.sha256(_LOCK_FILE.read_bytes())
    for file in sorted(ROOT.glob("*/migrations/*.py")):
        digest.update(b"%b\0%b\0" % (bytes(file), file.read_bytes()))
    name = f"database-{digest.hexdigest()}"
    return _kept(name, lambda data: _manage("prepare", OPENCODE_WEB_DATA=data)) / "db.sqlite3"


def static_files() -> Path:
    """Returns: the folder of what `collectstatic` collects, to be read or copied."""
    digest = hashlib.sha256(_LOCK_FILE.read_bytes())
    for file in sorted((ROOT / "static").rglob("*")):
        stat = file.stat()
        digest.update(b"%b\0%d\0%d\0" % (bytes(file), stat.st_size, stat.st_mtime_ns))
    name = f"static-{digest.hexdigest()}"
    return _kept(name, _collect) / "static"


def _collect(data: str) -> None:
    _manage("shell", "--no-imports", "-c", _COLLECT, OPENCODE_WEB_DATA=data)


def _kept(name: str, make: Callable[[str], None]) -> Path:
    folder = _KEPT / name
    with _one_at_a_time(_KEPT):
        if not folder.exists():
            for other in _KEPT.glob(f"{name.partition('-')[0]}-*"):
                shutil.rmtree(other)
            new = _KEPT / "new"
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            make(str(new))
            new.rename(folder)
    return folder


def template(url: str) -> str:
    """Returns: the name of a database on the PostgreSQL server, to be copied."""
    scratch = Path(os.environ["OPENCODE_WEB_TEST_DIR"])
    name = _template_name(scratch)
    with _one_at_a_time(scratch), _server(url) as connection:
        found = "SELECT 1 FROM pg_database WHERE datname = %s"
        if not connection.execute(found, [name]).fetchone():
            connection.execute(f'CREATE DATABASE "{name}_new"')
            new = beside(url, f"{name}_new")
            _manage("prepare", OPENCODE_WEB_DATA=str(scratch / "new"), DATABASE_URL=new)
            connection.execute(f'ALTER DATABASE "{name}_new" RENAME TO "{name}"')
    return name


def empty(connection: BaseDatabaseWrapper) -> None:
    """Delete all rows, as every test with transactions of its own does at its end."""
    connection.ops.execute_sql_flush(sql_flush(no_style(), connection))


def drop_template(url: str, scratch: Path) -> None:
    with _server(url) as connection:
        for end in ("", "_new"):
            connection.execute(f'DROP DATABASE IF EXISTS "{_template_name(scratch)}{end}"')


def beside(url: str, name: str) -> str:
    """Returns: the URL of another database on the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _template_name(scratch: Path) -> str:
    return f"ocw_migrated_{scratch.name}"


def _server(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(beside(url, "postgres"), autocommit=True)


def _manage(*arguments: str, **env: str) -> None:
    # Redis goes with PostgreSQL: with SQLite it is refused.
    kept = ("PATH", "HOME", "LANG", *(("REDIS_URL",) if "DATABASE_URL" in env else ()))
    plain = {name: os.environ[name] for name in kept if name in os.environ}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**plain, "SECRET_KEY": "x" * 50, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
