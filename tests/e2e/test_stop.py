from __future__ import annotations

import os
import time
from typing import Any

import psutil
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, script, text_of, wait_for

pytestmark = pytest.mark.e2e

# Of this run alone.
MARK = f"41.{os.getpid()}"
RULES = [{"permission": name, "pattern": "*", "action": "allow"} for name in ("bash", "task")]


def sleeper() -> dict[str, Any]:
    # One process that forks another, so that a whole tree has to go.
    return {"tool": "bash", "input": {"command": f"sh -c 'sleep {MARK} & wait' & sleep {MARK}"}}


def sleepers() -> list[psutil.Process]:
    return [one for one in psutil.process_iter() if MARK in " ".join(_command(one))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline() if process.name() == "sleep" else []
    except psutil.Error:
        return []


def test_a_stop_leaves_no_process_of_the_whole_tree(server: Installation) -> None:
    inner = script([sleeper()], [{"text": "never"}])
    given = {"description": "Sleep", "prompt": inner, "subagent_type": "general"}
    with server.client() as client:
        made = client.post("/session", json={"permission": RULES})
        session = made.json()["id"]
        steps = ([sleeper(), {"tool": "task", "input": given}], [{"text": "never"}])
        client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))
        wait_for(lambda: len(sleepers()) >= 4, seconds=60)
        (child,) = client.get(f"/session/{session}/children").json()
        stopped = time.monotonic()
        assert client.post(f"/session/{session}/abort").json() is True
        wait_for(lambda: sleepers() == [], seconds=20)
        wait_for(lambda: client.get("/session/status").json() == {}, seconds=20)
        # The budget is 5 s at the 99th percentile; a loaded machine gets more.
        assert time.monotonic() - stopped < 20
        for one in (session, child["id"]):
            calls = [
                part["state"]
                for message in client.get(f"/session/{one}/message").json()
                for part in message["parts"]
                if part["type"] == "tool"
            ]
            assert calls
            assert {call["status"] for call in calls} == {"error"}
            assert all("Stopped by" in call["error"] for call in calls)
        # Nothing is left to stop, and the next prompt works.
        client.post(f"/session/{session}/abort")
        answer = ask(client, session, script([{"text": "still here"}]))
        assert text_of(answer) == "still here"
