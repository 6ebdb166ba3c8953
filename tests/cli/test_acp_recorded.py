"""The cases recorded from `opencode acp`, with the checker that comes with them.

`OPENCODE_WEB_ACP_CASES` names the folder of `acp_check.py` and `acp_cases_public.json`. Without it
this is no test.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import acp_model
from tests.cli.editor import PROGRAM, environment
from tests.e2e.installation import ROOT, Installation
from tests.providers.servers import OpenAIServer

pytestmark = [pytest.mark.e2e, pytest.mark.any_database, pytest.mark.timeout(1800)]
# Where we differ on purpose, and why.
DECLARED: dict[str, str] = {
    "edit-no-fs": "no fs/write_text_file for an editor that has not declared it",
}
# The folder of a case becomes a project, as a person would add it.
_ADD = """\
import os, sys
import httpx
client = httpx.Client(
    base_url=os.environ["OPENCODE_WEB_URL"],
    headers={"Authorization": "Bearer " + os.environ["OPENCODE_WEB_TOKEN"]},
    timeout=60,
)
answer = client.post("/project", json={"directory": os.getcwd()})
assert answer.status_code in (200, 400, 409), answer.text
os.execv(sys.executable, sys.argv[1:])
"""


def test_the_recorded_cases_hold(server: Installation, tmp_path: Path) -> None:
    cases = Path(os.environ["OPENCODE_WEB_ACP_CASES"])
    folder = Path(
        server.run("from django.conf import settings; result=str(settings.WORKTREES_DIR)")
    )
    work = folder / server.team / "acp"
    work.mkdir(parents=True)
    with OpenAIServer(acp_model.play) as model, server.client() as client:
        patch = client.patch("/global/config", json=acp_model.settings(model))
        assert patch.status_code == 200, patch.text
        add, agent = tmp_path / "add.py", tmp_path / "agent"
        add.write_text(_ADD)
        command = [sys.executable, str(add), *PROGRAM, "--mirror"]
        exports = [f"export {key}={shlex.quote(value)}" for key, value in _env(server).items()]
        agent.write_text("\n".join(["#!/bin/sh", *exports, f"exec {shlex.join(command)}", ""]))
        agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
        skipped = tmp_path / "skipped"
        skipped.write_text("\n".join(DECLARED))
        done = subprocess.run(
            [
                *(sys.executable, str(cases / "acp_check.py"), "--agent", str(agent)),
                *("--cases", str(cases / "acp_cases_public.json"), "--work", str(work)),
                *("--skip", str(skipped)),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=1700,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    known = json.loads((cases / "acp_cases_public.json").read_text())["cases"]
    assert done.stdout.endswith(f"{len(known) - len(DECLARED)} cases, 0 differ\n")


def _env(server: Installation) -> dict[str, str]:
    env = environment(server)
    return {key: env[key] for key in env if key != "PATH"}
