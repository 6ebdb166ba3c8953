from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.e2e


def test_nfr_01_faults_at_every_point_lose_and_double_nothing() -> None:
    # `make chaos` plays hundreds; the short lease only makes a dead owner's be noticed sooner.
    command = [sys.executable, "-m", "tests.chaos", "--seeds", "9", "--lease", "4"]
    if "REDIS_URL" not in os.environ:
        command.append("--embedded")
    played = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr
    assert "\nfailed: 0\n" in played.stdout
