from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.opencode_web.server import ROOT, environment, manage

READ = re.compile(r"env(?:_bool|_int|_list|_secret)?\(\s*\"([A-Z_]+)\"")
LISTED = re.compile(r"^#?([A-Z_]+)=", re.MULTILINE)


def test_the_example_lists_every_variable_and_no_other() -> None:
    read = set(READ.findall((ROOT / "opencode_web" / "settings.py").read_text()))
    listed = LISTED.findall((ROOT / "docker" / "env.example").read_text())
    assert set(listed) == read
    assert len(listed) == len(set(listed))


@pytest.mark.e2e
def test_the_embedded_server_makes_one_secret_for_itself(tmp_path: Path) -> None:
    ask = ["shell", "-v", "0", "-c", "from django.conf import settings; print(settings.SECRET_KEY)"]
    first = manage(*ask, env=environment(tmp_path)).stdout.strip()
    assert len(first) > 60
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600
    assert manage(*ask, env=environment(tmp_path)).stdout.strip() == first
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


@pytest.mark.e2e
@pytest.mark.parametrize(
    "command",
    [
        ["-m", "daphne", "-p", "0", "opencode_web.asgi:application"],
        pytest.param(["-m", "celery", "-A", "opencode_web", "worker"], marks=pytest.mark.deep),
        pytest.param(["-m", "celery", "-A", "opencode_web", "beat"], marks=pytest.mark.deep),
    ],
)
def test_separate_processes_refuse_to_run_without_a_secret(
    tmp_path: Path, command: list[str]
) -> None:
    env = environment(
        tmp_path,
        REDIS_URL="redis://127.0.0.1:9/0",
        DATABASE_URL="postgres://nobody@127.0.0.1:9/none",
        PYTHONPATH=str(ROOT),
    )
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "opencode_web.E001" in done.stderr
