from __future__ import annotations

import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script, text_of, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.deep]


def test_a_kill_in_mid_stream_leaves_nothing_stuck(mortal: Installation) -> None:
    with mortal.client() as client:
        session = new_session(client)
        steps = [{"text": "the first half"}, {"delay_ms": 3000}, {"text": " and the second"}]
        client.post(f"/session/{session}/prompt_async", json=body(script(steps)))

        def texts() -> list[dict]:
            messages = client.get(f"/session/{session}/message").json()
            answers = [m for m in messages if m["info"]["role"] == "assistant"]
            return [p for m in answers for p in m["parts"] if p["type"] == "text"]

        wait_for(lambda: [part for part in texts() if part["text"] == "the first half"])
        mortal.kill_worker()
        if mortal.is_embedded:
            mortal.start()
        # Taken over within 15 s of the death, and tried again from the durable history.
        wait_for(lambda: len(texts()) == 2, seconds=25)
        partial, again = texts()
        assert partial["text"] == "the first half"
        assert partial["metadata"] == {"interrupted": True}
        wait_for(lambda: session not in client.get("/session/status").json(), seconds=25)
        assert texts()[1]["text"] == "the first half and the second"
        assert again["id"] != partial["id"]
        answer = ask(client, session, script([{"text": "still here"}]))
        assert text_of(answer) == "still here"


def test_a_waiting_permission_survives_a_kill(mortal: Installation) -> None:
    with mortal.client() as client:
        session = new_session(client)
        steps = ([{"tool": "bash", "input": {"command": "echo survived"}}], [{"text": "done"}])
        client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))
        (request,) = wait_for(lambda: client.get("/permission").json())
        mortal.kill_worker()
        if mortal.is_embedded:
            mortal.start()
        assert [row["id"] for row in client.get("/permission").json()] == [request["id"]]
        wait_for(
            lambda: (
                client.post(
                    f"/permission/{request['id']}/reply", json={"reply": "once"}
                ).status_code
                == 200
            )
        )
        wait_for(lambda: session not in client.get("/session/status").json(), seconds=25)
        messages = client.get(f"/session/{session}/message").json()
        (tool,) = [p for m in messages for p in m["parts"] if p["type"] == "tool"]
        assert tool["state"]["output"].strip() == "survived"
        assert text_of(messages[-1]) == "done"


def test_ctrl_c_stops_everything_it_started(mortal: Installation) -> None:
    with mortal.client() as client:
        session = new_session(client)
        steps = [{"text": "x"}, {"delay_ms": 60_000}]
        client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
        wait_for(lambda: client.get("/session/status").json())
    children = mortal.descendants()
    assert mortal.stop() == 0
    assert [child for child in children if child.is_running()] == []
