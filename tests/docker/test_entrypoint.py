from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.e2e.installation import own_database

ENTRYPOINT = ROOT / "docker" / "entrypoint.sh"
URL = os.environ.get("DATABASE_URL", "")


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    env = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "OPENCODE_WEB_DATA": str(tmp_path / "data"),
        "SECRET_KEY": "x" * 40,
    }
    if not URL:
        yield env
        return
    with own_database(URL, f"ocw_prepare_{os.getpid()}") as url:
        yield {**env, "DATABASE_URL": url}


def _start(env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["sh", str(ENTRYPOINT), "python", "-c", "import sys; print('started'); sys.exit(7)"],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_it_is_a_plain_shell_script() -> None:
    assert os.access(ENTRYPOINT, os.X_OK)
    subprocess.run(["sh", "-n", str(ENTRYPOINT)], check=True)


@pytest.mark.deep
def test_it_migrates_once_and_becomes_the_command(environment: dict[str, str]) -> None:
    # The data folder of SQLite has one server; on PostgreSQL three containers start at once.
    (Path(environment["OPENCODE_WEB_DATA"])).mkdir()
    children = [_start(environment) for _ in range(3 if URL else 1)]
    outputs = [child.communicate(timeout=200)[0] for child in children]
    assert [child.returncode for child in children] == [7] * len(children), outputs
    assert sum("Migrated." in output for output in outputs) == 1
    assert all(output.endswith("started\n") for output in outputs)
    again = _start(environment)
    assert "up to date" in again.communicate(timeout=60)[0]
