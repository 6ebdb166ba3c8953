"""PostgreSQL's own programs: `pg_dump`, `pg_restore` and `psql`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.conninfo import make_conninfo

from opencode_web.backup.errors import BackupError
from opencode_web.backup.files import CHUNK_BYTES

# Where Debian puts those of each version.
_DEBIAN = Path("/usr/lib/postgresql")
_PARAMETERS = ("host", "port", "user", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey")
# Everything of ours goes in the transaction that brings the new. Extensions stay.
_DROP_ALL = """
DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT c.oid::regclass AS name, c.relkind AS kind FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') LOOP
    EXECUTE format('DROP %s IF EXISTS %s CASCADE', CASE one.kind WHEN 'v' THEN 'VIEW'
      WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, one.name);
  END LOOP;
  FOR one IN SELECT p.oid::regprocedure AS name FROM pg_proc p
      WHERE p.pronamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') LOOP
    EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', one.name);
  END LOOP;
END $$;
"""


def server_version() -> int:
    """Returns: the major version of the server."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        (number,) = cursor.fetchone()
    return int(number) // 10_000


def require_programs(*names: str) -> int:
    """Returns: the major version of the server. Raises: BackupError."""
    version = server_version()
    for name in names or ("pg_dump",):
        _program(name, version)
    return version


def _program(name: str, at_least: int) -> str:
    """Returns: the path of a program that can speak to a server of this version."""
    found = {path: _version_of(path) for path in _candidates(name)}
    good = [path for path, version in found.items() if version >= at_least]
    if good:
        return good[0]
    said = f"version {max(found.values())} is installed" if found else "it is not installed"
    raise BackupError(
        f"{name} {at_least} or newer is needed for this PostgreSQL server, and {said}. Install "
        f"the PostgreSQL client programs (postgresql-client-{at_least} on Debian)."
    )


def _candidates(name: str) -> Iterator[str]:
    if path := shutil.which(name):
        yield path
    yield from map(str, sorted(_DEBIAN.glob(f"*/bin/{name}"), reverse=True))


def _version_of(path: str) -> int:
    said = subprocess.run(  # noqa: S603 - no argument from outside
        [path, "--version"], capture_output=True, text=True, timeout=20, check=False
    ).stdout
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else 0


@contextmanager
def one_snapshot() -> Iterator[tuple[CursorWrapper, str]]:
    """Yields: a cursor that sees the database as of now, and the name under which others do."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        (name,) = cursor.fetchone()
        yield cursor, str(name)


def dump(target: IO[bytes], snapshot: str) -> None:
    """Write what the snapshot sees. Raises: BackupError."""
    command = [
        _program("pg_dump", server_version()),
        *("--format=custom", "--compress=0", "--no-owner", "--no-privileges", "--no-password"),
        *(f"--snapshot={snapshot}", f"--dbname={_address()}"),
    ]
    with _running(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        shutil.copyfileobj(process.stdout, target, CHUNK_BYTES)


def load(source: IO[bytes]) -> None:
    """Replace what is in the database, or leave it as it is. Raises: BackupError."""
    version = server_version()
    connection.close()
    programs = _program("pg_restore", version), _program("psql", version)
    read = [programs[0], "--no-owner", "--no-privileges", "--file=-"]
    write = [
        *(programs[1], "--no-psqlrc", "--quiet", "--no-password", "--output=/dev/null"),
        *("--set=ON_ERROR_STOP=1", f"--dbname={_address()}"),
    ]
    with _running(write, stdin=subprocess.PIPE) as psql:
        assert psql.stdin is not None
        psql.stdin.write(f"BEGIN;\n{_DROP_ALL}".encode())
        with _running(read, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            assert reader.stdout is not None
            feeding = threading.Thread(target=_feed, args=(source, reader.stdin))
            feeding.start()
            shutil.copyfileobj(reader.stdout, psql.stdin, CHUNK_BYTES)
            feeding.join()
        # Only now: whatever ended before it leaves the transaction open, and so undone.
        psql.stdin.write(b"\nCOMMIT;\n")
        psql.stdin.close()


def _feed(source: IO[bytes], target: IO[bytes]) -> None:
    # A program that has ended says why.
    with suppress(BrokenPipeError), target:
        shutil.copyfileobj(source, target, CHUNK_BYTES)


@contextmanager
def _running(
    command: list[str], *, stdin: int | None = None, stdout: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends. Raises: BackupError when it fails."""
    process = subprocess.Popen(  # noqa: S603 - a program of the server's own, no shell
        command, env=_environment(), stdin=stdin, stdout=stdout, stderr=subprocess.PIPE
    )
    said: list[bytes] = []
    assert process.stderr is not None
    listening = threading.Thread(
        target=lambda stream: said.append(stream.read()), args=[process.stderr]
    )
    listening.start()
    try:
        yield process
    except BrokenPipeError:
        pass  # It has ended before it had everything: its exit code says so.
    except BaseException:
        process.kill()
        raise
    finally:
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                _close(stream)
        code = process.wait()
        listening.join()
        process.stderr.close()
    if code:
        lines = b"".join(said).decode(errors="replace").strip().splitlines()
        last = lines[-1][:300] if lines else f"exit code {code}"
        raise BackupError(f"{Path(command[0]).name} failed: {last}")


def _close(stream: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        stream.close()


def _parameters() -> dict[str, Any]:  # of libpq
    return dict(connection.get_connection_params())


def _address() -> str:
    """Returns: how to connect, without the password: others see the arguments of a program."""
    given = _parameters()
    return make_conninfo(**{name: given[name] for name in _PARAMETERS if given.get(name)})


def _environment() -> dict[str, str]:
    found = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    password = _parameters().get("password")
    return {**found, "PGPASSWORD": str(password)} if password else found


def others_connected() -> int:
    """Returns: how many connections to the database there are beside this one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        (count,) = cursor.fetchone()
    return int(count)
