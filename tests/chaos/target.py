"""The installation that the faults strike: embedded, or on a database and a Redis of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
from psycopg.conninfo import make_conninfo

from tests import migrated
from tests.e2e.installation import START_S, Installation, free_port, own_database

HERE = Path(__file__).parent
POLL_S = 0.1


class Target(Installation):
    """Starts again by itself what a fault has killed."""

    redis_port = 0
    kills = 0

    @property
    def chaos(self) -> Path:
        return Path(self.env["CHAOS_DIR"])

    def start(self) -> None:
        for folder in ("armed", "reached"):
            (self.chaos / folder).mkdir(parents=True, exist_ok=True)
        super().start()
        threading.Thread(target=self._keep_alive, daemon=True).start()

    def _keep_alive(self) -> None:
        # With Redis the server supervises its processes itself.
        while self.process is not None:
            if self.process.poll() is not None:
                # The next fault may strike while it starts: then it is started once more.
                with suppress(AssertionError):
                    Installation.start(self)
            time.sleep(POLL_S)

    def stop(self) -> int:
        process, self.process = self.process, None
        if process is None:
            return -1
        process.terminate()
        return process.wait(30)

    def strike(self, fault: str) -> None:
        """Carry out a fault that is not the suicide of the process that reached the point."""
        match fault:
            case "web":
                self._kill("ocw-web")
            case "kill_all":
                self._kill("ocw-", with_supervisor=True)
            case "redis":
                self._restart_redis()
            case "db":
                self._drop_connections()
            case _:
                raise ValueError(fault)

    def _kill(self, name: str, *, with_supervisor: bool = False) -> None:
        """Kill the server's children of this name: forks, which all have its command line."""
        deadline = time.monotonic() + START_S
        victims: list[psutil.Process] = []
        # Another seed's fault may just have killed them.
        while not victims and self.process is not None:
            assert time.monotonic() < deadline, f"There is no {name} to kill."
            time.sleep(POLL_S)
            with suppress(psutil.Error):
                server = psutil.Process(self.process.pid)
                victims = [one for one in self.descendants() if one.name().startswith(name)]
                victims += [server] if with_supervisor else []
        for victim in victims:
            with suppress(psutil.Error):
                victim.kill()

    def _restart_redis(self) -> None:
        for one in psutil.process_iter(["name", "cmdline"]):
            if one.info["name"] == "redis-server" and f":{self.redis_port}" in " ".join(
                one.info["cmdline"]
            ):
                one.kill()
                one.wait(10)
        start_redis(self.redis_port, self.data)

    def _drop_connections(self) -> None:
        address = make_conninfo(self.env["DATABASE_URL"], application_name="chaos")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name <> 'chaos'"
            )


def start_redis(port: int, folder: Path) -> subprocess.Popen[bytes]:
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def target(data: Path, *, embedded: bool, lease_s: int) -> Iterator[Target]:
    """An installation of its own that runs; every process that it starts is gone at the end."""
    migrated.lay_out(data / "data", with_database=embedded)
    env = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    env |= {
        "HOME": str(data),
        "OPENCODE_WEB_DATA": str(data / "data"),
        "SECRET_KEY": "chaos-" + "x" * 50,
        "LEASE_S": str(lease_s),
        "LOG_LEVEL": "INFO",
        "CHAOS_DIR": str(data / "chaos"),
        "PYTHONPATH": str(HERE / "site"),
    }
    with ExitStack() as stack:
        redis_port = free_port()
        if not embedded:
            name = f"ocw_chaos_{os.getpid()}"
            server = os.environ.get("CHAOS_POSTGRES", "postgres://postgres@127.0.0.1:5432")
            redis = start_redis(redis_port, data)
            stack.callback(_end_redis, redis_port)
            assert redis.poll() is None
            env |= {
                "DATABASE_URL": stack.enter_context(own_database(f"{server}/postgres", name)),
                "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            }
        made = Target(data, env)
        made.redis_port = redis_port
        stack.callback(made.close)
        made.start()
        made.bootstrap()
        yield made
    shutil.rmtree(data, ignore_errors=True)


def _end_redis(port: int) -> None:
    subprocess.run(["redis-cli", "-p", str(port), "shutdown", "nosave"], capture_output=True)
