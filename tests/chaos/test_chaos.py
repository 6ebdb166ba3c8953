from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    *(pytest.mark.e2e, pytest.mark.deep, pytest.mark.each_database),
    pytest.mark.timeout(420),
]


def test_nfr_01_faults_at_every_point_lose_and_double_nothing() -> None:
    # `make chaos` plays hundreds; the short lease only makes a dead owner's be noticed sooner.
    command = [sys.executable, "-m", "tests.chaos", "--seeds", "8", "--lease", "4"]
    if "REDIS_URL" not in os.environ:
        command.append("--embedded")
    env = dict(os.environ)
    if "DATABASE_URL" in env:
        # On the server of this run, in a database of its own.
        server = urlsplit(env["DATABASE_URL"])
        env["CHAOS_POSTGRES"] = urlunsplit(server._replace(path=""))
    played = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=400, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr
    assert "\nfailed: 0\n" in played.stdout
