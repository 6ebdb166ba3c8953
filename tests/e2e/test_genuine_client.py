from __future__ import annotations

import json

import pytest

from tests.e2e.genuine import Genuine
from tests.e2e.rest import script

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(300), pytest.mark.any_database]

READ = script([{"tool": "read", "input": {"filePath": "till.py"}}], [{"text": "Answer 42."}])
WRITE = script(
    [{"tool": "write", "input": {"filePath": "made.txt", "content": "by hand"}}],
    [{"text": "Written."}],
)


def test_run_prints_the_answer(genuine: Genuine) -> None:
    done = genuine.run(READ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Answer 42."
    assert "Read till.py" in done.stderr


def test_run_never_leaves_before_it_has_printed(genuine: Genuine) -> None:
    # It exits with the answer of the prompt, so its events must have been sent before.
    for number in range(3):
        done = genuine.run(script([{"text": f"Answer {number}."}]))
        assert done.stdout.strip() == f"Answer {number}.", done.stderr


def test_run_goes_on_with_a_session(genuine: Genuine) -> None:
    first = genuine.run(READ, "--format", "json")
    lines = [json.loads(line) for line in first.stdout.splitlines()]
    kinds = {line["type"] for line in lines}
    assert {"step_start", "tool_use", "text", "step_finish"} <= kinds
    session = lines[0]["sessionID"]
    again = genuine.run(script([{"text": "Second answer."}]), "-s", session)
    assert again.stdout.strip() == "Second answer."
    with genuine.server.client() as client:
        messages = client.get(f"/session/{session}/message").json()
    assert [message["info"]["role"] for message in messages].count("user") == 2


def test_run_rejects_or_allows_what_is_asked(genuine: Genuine) -> None:
    rejected = genuine.run(WRITE)
    assert "auto-rejecting" in rejected.stderr
    allowed = genuine.run(WRITE, "--auto")
    assert allowed.stdout.strip() == "Written.", allowed.stderr


def test_run_with_a_wrong_token_fails(genuine: Genuine) -> None:
    done = genuine.run(READ, token="ocw_wrong")
    assert done.returncode == 1
    assert done.stdout == ""
