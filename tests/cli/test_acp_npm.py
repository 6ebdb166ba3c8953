from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import npm
from tests.cli.editor import PROGRAM, environment, worktree_of
from tests.e2e.installation import Installation
from tests.e2e.rest import script

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.deep,
    pytest.mark.timeout(300),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]
VERSION = "2.4.0"
WRITE = {"tool": "write", "input": {"filePath": "made.txt", "content": "by hand\n"}}


@pytest.fixture(scope="module")
def sdk() -> Path:
    folder = npm.cache("acp", VERSION)
    module = folder / "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js"
    try:
        return npm.install([f"@agentclientprotocol/sdk@{VERSION}"], module, folder)
    except npm.Unavailable as exc:
        pytest.skip(str(exc))


def test_an_editor_on_the_npm_sdk_works_in_a_session_and_comes_back_to_it(
    server: Installation, sdk: Path
) -> None:
    # FEAT-0011 FR-02, FR-05, FR-07
    cwd = worktree_of(server)
    first = script([{"text": "I write."}, WRITE], [{"text": "Done."}])
    second = script([{"text": "Here again."}])
    program = str(Path(__file__).with_name("npm_editor.mjs"))
    done = subprocess.run(
        ["node", program, str(sdk), str(cwd), first, second, *PROGRAM],
        env=environment(server),
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    begun, again = said["begun"], said["again"]
    assert begun["about"]["protocolVersion"] == 1
    assert {"mode", "model"} <= set(begun["options"])
    assert (begun["stopReason"], begun["text"]) == ("end_turn", "I write.Done.")
    assert begun["usage"]["totalTokens"] > 0
    assert begun["asked"] == [["allow_once", "allow_always", "reject_once"]]
    assert (begun["calls"], begun["ends"]) == (["edit"], "completed")
    assert (cwd / "made.txt").read_text() == "by hand\n"
    (cwd / "made.txt").unlink()
    assert again["isListed"]
    assert (again["stopReason"], again["text"]) == ("end_turn", "I write.Done.Here again.")
    assert first in again["prompts"]
    assert (again["calls"], again["asked"]) == (["edit"], [])
    assert (begun["exit"], again["exit"]) == (0, 0)
