"""The genuine program with a scripted model, to compare what its tools do with what ours do."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.reference import reference

_START_S = 120
# The genuine program offers apply_patch to models of this name, and edit and write to the others.
_PATCHES = "gpt-scripted"


@dataclass(frozen=True)
class GenuineProgram:
    """A running server and the folder of its project."""

    url: str
    folder: Path

    def get(self, path: str) -> Any:
        """Returns: what it answers about its project."""
        return httpx.get(f"{self.url}{path}", params=self._here, timeout=60, verify=False).json()

    @property
    def _here(self) -> dict[str, str]:
        return {"directory": str(self.folder)}

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Have the model call a tool. Returns: the state of the call."""
        model = _PATCHES if tool == "apply_patch" else "scripted"
        text = f"BENCH call {tool} {json.dumps(arguments)}"
        with httpx.Client(base_url=self.url, params=self._here, verify=False) as http:
            # With a title it asks the model for none.
            session = http.post("/session", json={"title": tool}).json()["id"]
            body = {
                "model": {"providerID": "bench", "modelID": model},
                "parts": [{"type": "text", "text": text}],
            }
            http.post(f"/session/{session}/message", json=body, timeout=60).raise_for_status()
            messages = http.get(f"/session/{session}/message").json()
        parts = [part for message in messages for part in message["parts"]]
        state: dict[str, Any] = next(part["state"] for part in parts if part["type"] == "tool")
        return state


@contextmanager
def genuine_program(work: Path) -> Iterator[GenuineProgram]:
    """Start it below `work`. Raises: Unavailable."""
    with _endpoint() as endpoint:
        server = reference(work, endpoint)
        _change_settings(work / "home/config/opencode/opencode.json")
        with server.log.open("wb") as log:
            process = subprocess.Popen(
                server.command, env=server.env, cwd=server.cwd, stdout=log, stderr=log
            )
        try:
            _wait_for(server.address.url)
            yield GenuineProgram(server.address.url, server.cwd)
        finally:
            process.kill()
            process.wait(30)


def _change_settings(config: Path) -> None:
    written = json.loads(config.read_text())
    # Its own defaults are compared with ours.
    del written["permission"]
    # A call that is compared needs no copy of the folder before and after it.
    written["snapshot"] = False
    models = written["provider"]["bench"]["models"]
    models[_PATCHES] = {**models["scripted"], "name": "Scripted, with patches"}
    config.write_text(json.dumps(written))


@contextmanager
def _endpoint() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.endpoint"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}/v1"
        process.communicate()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            # A request that comes before it listens is never answered.
            httpx.get(f"{url}/doc", timeout=5, verify=False).raise_for_status()
            return
        except httpx.HTTPError:
            assert time.monotonic() < deadline, "the genuine program does not answer"
            time.sleep(0.2)
