from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, text_of, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.deep]


def answers_of(client: httpx.Client, session: str) -> list[dict[str, Any]]:
    messages = client.get(f"/session/{session}/message").json()
    return [message for message in messages if message["info"]["role"] == "assistant"]


def test_a_deploy_in_mid_stream_leaves_no_error_in_the_session(mortal: Installation) -> None:
    with mortal.client() as client:
        session = new_session(client)
        steps = [{"text": "the first half"}, {"delay_ms": 9000}, {"text": " and the second"}]
        client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
        wait_for(lambda: [a for a in answers_of(client, session) if text_of(a)])
        mortal.end_worker_of(session)
        ended = time.monotonic()
        wait_for(lambda: client.get("/session/status").json() == {}, seconds=40)
        # The next worker was rung for at once: nine seconds are the model's.
        assert time.monotonic() - ended < 9 + 15
        (answer,) = answers_of(client, session)
        assert text_of(answer) == "the first half and the second"
        assert "error" not in answer["info"]


def test_a_deploy_during_a_command_lets_the_model_decide(mortal: Installation) -> None:
    with mortal.client() as client:
        session = new_session(client)
        call = {"tool": "bash", "input": {"command": "echo ran | tee -a count; sleep 300"}}
        steps = ([call], [{"text": "I looked"}])
        client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))
        (request,) = wait_for(lambda: client.get("/permission").json())
        client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})
        count = Path(client.get("/path").json()["directory"]) / "count"
        wait_for(count.exists)
        mortal.end_worker_of(session)
        wait_for(lambda: client.get("/session/status").json() == {}, seconds=40)
        called, looked = answers_of(client, session)
        (state,) = [part["state"] for part in called["parts"] if part["type"] == "tool"]
        assert state["status"] == "error"
        assert state["error"].startswith("Interrupted: the server was stopped while this ran.")
        assert count.read_text() == "ran\n"
        assert text_of(looked) == "I looked"
        assert "error" not in called["info"]
        assert "error" not in looked["info"]
