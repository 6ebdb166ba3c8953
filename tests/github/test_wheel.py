from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.e2e.installation import ROOT
from tests.e2e.rest import script
from tests.sessions.git_server import make_repository

pytestmark = [
    *(pytest.mark.e2e, pytest.mark.deep, pytest.mark.any_database),
    pytest.mark.timeout(900),
]


def test_the_wheel_serves_without_a_checkout(tmp_path: Path) -> None:
    """`make dist`, and what it needs from the index, in an environment of its own."""
    uv = Path(sys.executable).with_name("uv")
    dist, empty, folder = tmp_path / "dist", tmp_path / "empty", tmp_path / "venv"
    command = [str(uv), "build", "--quiet", "--wheel", "--out-dir", str(dist), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = dist.glob("opencode_web-*.whl")
    venv.EnvBuilder(symlinks=True).create(folder)
    command = [str(uv), "pip", "install", "--quiet", "--python", str(folder / "bin" / "python")]
    subprocess.run([*command, "-c", str(ROOT / "requirements.lock"), str(wheel)], check=True)
    empty.mkdir()
    repository = make_repository(tmp_path / "work" / "till", {"till.py": "tax = 1\n"})
    # A repository cannot stand in for a package of the server.
    (repository / "sessions.py").write_text("raise SystemExit('taken over')\n")
    program = str(folder / "bin" / "opencode-web")
    done = subprocess.run(
        [program, "run", "--embedded", ".", "-m", "demo/inline", "--results", str(empty)],
        cwd=repository,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        input=script([{"text": "Answer 42."}]),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "Answer 42.\n"), done.stderr
    help_of = [str(folder / "bin" / "python"), "-P", "-m", "opencode_web", "check"]
    env = {"PATH": os.environ["PATH"], "OPENCODE_WEB_DATA": str(tmp_path / "data")}
    assert subprocess.run(help_of, cwd=empty, env=env, capture_output=True).returncode == 0
