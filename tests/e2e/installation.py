"""A whole installation in processes of its own: embedded, or on the PostgreSQL and Redis of CI."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg

from tests import migrated

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct-horse-battery"
# Seconds when nothing else runs; a machine with many others on it takes a minute.
START_S = 200
# Runs what comes, a line for each, with the settings of the server. One process does it for all
# tests, because it takes longer to start than to do most of it. A password is hashed as the server
# does, only not as often.
_PYTHON = """
import json, sys
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection

PBKDF2PasswordHasher.iterations = 1_000
for line in sys.stdin:
    names = {"result": None}
    exec(json.loads(line), names)
    connection.close()
    print(json.dumps(names["result"]), flush=True)
"""
_BOOTSTRAP = """
import io, json
from django.core.management import call_command
said = io.StringIO()
call_command(
    "bootstrap", email={email!r}, password={password!r}, team={team!r}, json=True, stdout=said
)
result = json.loads(said.getvalue())
"""
_SIGN_IN = """
from django.test import Client
from teams.models import User
browser = Client()
browser.force_login(User.objects.get(email={email!r}))
result = browser.session.session_key
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def own_database(url: str, name: str, *, template: str = "template1") -> Iterator[str]:
    admin = migrated.beside(url, "postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield migrated.beside(url, name)
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@dataclass
class Installation:
    data: Path
    env: dict[str, str]
    port: int = field(default_factory=free_port)
    # As BASE_PATH.
    base: str = ""
    process: subprocess.Popen[str] | None = None
    python: subprocess.Popen[str] | None = None
    output: str = ""
    email: str = ""
    team: str = ""
    project: str = ""
    token: str = ""
    # The key of a session of theirs in a browser.
    cookie: str = ""
    workers: int = 1
    teams: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.base}"

    @property
    def is_embedded(self) -> bool:
        return "REDIS_URL" not in self.env

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def start(self) -> None:
        command = [sys.executable, "manage.py", "up", "--port", str(self.port)]
        if not self.is_embedded:
            command += ["--workers", str(self.workers)]
        with (self.data / "up.log").open("a") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._wait_until_healthy()

    def _wait_until_healthy(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + START_S
        with httpx.Client(base_url=self.url, timeout=5, verify=False) as client:
            while not self._is_healthy(client):
                assert self.process.poll() is None, self.log()
                assert time.monotonic() < deadline, f"no answer within {START_S} s\n{self.log()}"
                time.sleep(0.05)

    def _is_healthy(self, client: httpx.Client) -> bool:
        try:
            return client.get("/global/health").status_code == 200
        except httpx.HTTPError:
            return False

    def log(self) -> str:
        return (self.data / "up.log").read_text()

    def bootstrap(self) -> None:
        """Make a person, a team and a project. Whoever was there before is nothing to them."""
        self.teams += 1
        self.email = f"ada@team-{self.teams}.example.com"
        made = self.have_person(self.email, "Till team")
        self.team, self.project, self.token = made["team"], made["project"], made["token"]
        self.cookie = self.sign_in(self.email)

    def have_person(self, email: str, team: str) -> dict[str, str]:
        """Make a person with a team. Returns: what the command says."""
        return dict(self.run(_BOOTSTRAP.format(email=email, password=PASSWORD, team=team)))

    def sign_in(self, email: str) -> str:
        """Returns: the key of a new session in a browser. No password is hashed for it."""
        return str(self.run(_SIGN_IN.format(email=email)))

    def run(self, code: str) -> Any:
        """Run Python beside the server. Returns: what it leaves as `result`."""
        if self.python is None:
            self.python = subprocess.Popen(
                [sys.executable, "manage.py", "shell", "--no-imports", "-c", _PYTHON],
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.python.stdin is not None
        assert self.python.stdout is not None
        print(json.dumps(code), file=self.python.stdin, flush=True)
        return json.loads(self.python.stdout.readline())

    def client(self, **more: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        # To read the certificates of the system takes 20 ms, and nothing here is https.
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=False, **more)

    def descendants(self) -> list[psutil.Process]:
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def kill_worker(self) -> None:
        """SIGKILL whatever drains sessions: the server itself when it is embedded."""
        assert self.process is not None
        if self.is_embedded:
            victims = [psutil.Process(self.process.pid), *self.descendants()]
        else:
            workers = [p for p in self.descendants() if p.name().startswith("ocw-worker")]
            victims = [*workers, *(child for w in workers for child in w.children(recursive=True))]
        assert victims
        for victim in victims:
            # Some end with their parent, before their turn comes.
            with suppress(psutil.NoSuchProcess):
                victim.kill()
        psutil.wait_procs(victims, timeout=10)
        if self.is_embedded:
            self.process.wait(10)

    def kill_web(self) -> None:
        """SIGKILL whatever answers browsers, and have it start again."""
        if self.is_embedded:
            self.kill_worker()
            self.start()
            return
        (web,) = [one for one in self.descendants() if one.name() == "ocw-web"]
        web.kill()
        web.wait(10)
        self._wait_until_healthy()

    def end_worker_of(self, session: str) -> None:
        """SIGTERM to whatever drains the session, as a deploy sends it; another one is there."""
        assert self.process is not None
        if self.is_embedded:
            self.process.terminate()
            assert self.process.wait(30) == 0, self.log()
            self.start()
            return
        with psycopg.connect(self.env["DATABASE_URL"]) as connection:
            query = "SELECT owner FROM agent_sessions_run WHERE session_id = %s"
            (owner,) = connection.execute(query, [session]).fetchone() or ("",)
        worker = psutil.Process(int(owner.rsplit(":", 1)[1]))
        assert worker.name().startswith("ocw-worker")
        # The supervisor takes an end within the first seconds for a fault.
        time.sleep(max(0.0, worker.create_time() + 6 - time.time()))
        worker.terminate()

    def stop(self) -> int:
        if self.process is None or not self.is_running:
            return -1
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def close(self) -> None:
        self.stop()
        if self.python is not None:
            self.python.communicate()


@contextmanager
def installation(data: Path) -> Iterator[Installation]:
    """An installation that nobody has used yet; every process it starts is gone at the end."""
    migrated.lay_out(data / "data", with_database="REDIS_URL" not in os.environ)
    env = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    env |= {"HOME": str(data), "OPENCODE_WEB_DATA": str(data / "data")}
    # Tests count the requests that a provider gets.
    env["TITLES"] = "0"
    # Offered beside the others, so that the layout can be looked at from right to left.
    env["PSEUDO_LANGUAGE"] = "1"
    # Their models, repositories, receivers of webhooks and MCP servers are on this host.
    env["ALLOWED_PRIVATE_ADDRESSES"] = "127.0.0.0/8,::1,localhost"
    if "REDIS_URL" not in os.environ:
        yield from _run(Installation(data, env))
        return
    env |= {
        "REDIS_URL": os.environ["REDIS_URL"],
        "SECRET_KEY": "end-to-end-" + "x" * 50,
        # Names the Celery queue: two installations on one Redis must not take each other's work.
        "OPENCODE_WEB_HOST": f"e2e-{os.getpid()}-{free_port()}",
        # Each thread keeps a connection, and PostgreSQL has a hundred for all installations.
        "DB_THREADS": "3",
        "WEB_THREADS": "4",
    }
    server, name = os.environ["DATABASE_URL"], f"ocw_e2e_{os.getpid()}_{free_port()}"
    with own_database(server, name, template=migrated.template(server)) as url:
        yield from _run(Installation(data, {**env, "DATABASE_URL": url}))


def _run(server: Installation) -> Iterator[Installation]:
    try:
        yield server
    finally:
        server.close()
