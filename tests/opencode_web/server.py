from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

import httpx

from tests.migrated import lay_out

ROOT = Path(__file__).resolve().parent.parent.parent
# Ten when nothing else runs; beside many others the first start has taken more than a minute.
START_S = 200


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(data: Path, **changes: str) -> dict[str, str]:
    kept = {"PATH", "HOME", "LANG", "TMPDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
    plain = {name: value for name, value in os.environ.items() if name in kept}
    return {**plain, "OPENCODE_WEB_DATA": str(data), **changes}


def up_to_date(data: Path, **changes: str) -> dict[str, str]:
    """The environment of a server whose start has no migrations to apply."""
    lay_out(data)
    return environment(data, **changes)


def manage(
    *arguments: str, env: dict[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )


def processes_of_session(session: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class UpServer:
    def __init__(self, env: dict[str, str], *arguments: str) -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(self.port), *arguments],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(line.rstrip("\n") for line in self.process.stdout)

    def __enter__(self) -> UpServer:
        self.wait_for("Ctrl+C")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def wait_for(self, text: str) -> str:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            for line in list(self.lines):
                if text in line:
                    return line
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"no {text!r} in {self.lines}, code {self.process.poll()}")

    @property
    def url(self) -> str:
        found = re.search(r"http://\S+", self.wait_for("http://"))
        assert found
        return found[0]

    def stop(self, sign: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(sign)
        return self.process.wait(20)


def submit(client: httpx.Client, url: str, fields: dict[str, str]) -> httpx.Response:
    page = client.get(url)
    assert page.status_code == 200, page.text
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token
    return client.post(url, data={**fields, "csrfmiddlewaretoken": token[1]})
