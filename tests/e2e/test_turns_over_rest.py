from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import (
    approve_everything,
    ask,
    body,
    new_session,
    script,
    text_of,
    wait_for,
)
from tests.providers.servers import AnthropicServer, Call, OpenAIServer, Reply

pytestmark = pytest.mark.e2e

KEY = "sk-test-0123456789abcdef"
LIMIT_DISK = """
from teams.models import Team
Team.objects.filter(pk={team!r}).update(max_disk_mb={most})
"""
WIRES = [(OpenAIServer, "@ai-sdk/openai-compatible"), (AnthropicServer, "@ai-sdk/anthropic")]


def set_up_provider(client: httpx.Client, name: str, npm: str, base_url: str) -> dict[str, str]:
    model = {"limit": {"context": 100_000, "output": 8_000}, "cost": {"input": 3, "output": 15}}
    options = {"baseURL": base_url, "apiKey": KEY}
    block = {
        name: {"npm": npm, "options": options, "models": {"m-1": {**model, "reasoning": True}}}
    }
    answer = client.patch("/global/config", json={"provider": block})
    assert answer.status_code == 200, answer.text
    assert KEY not in answer.text
    return {"providerID": name, "modelID": "m-1"}


@pytest.mark.parametrize(("kind", "npm"), WIRES)
def test_a_whole_turn(server: Installation, kind: Any, npm: str) -> None:
    replies = [
        Reply(
            reasoning="I look first.",
            text="Reading.",
            calls=(Call("read", {"filePath": "till.py"}, id="call_1"),),
        ),
        Reply(calls=(Call("bash", {"command": "echo from the sandbox"}, id="call_2"),)),
        Reply(text="All done.", input_tokens=1000, output_tokens=100),
    ]
    stop = threading.Event()
    with kind(replies) as provider, server.client() as client:
        model = set_up_provider(client, f"wire-{kind.__name__.lower()}", npm, provider.base_url)
        approver = approve_everything(client, stop)
        session = new_session(client)
        answer = ask(client, session, "Look at the till.", model=model)
        stop.set()
        approver.join()
        assert text_of(answer) == "All done."
        assert answer["info"]["finish"] == "stop"
        assert answer["info"]["tokens"]["input"] == 1000
        assert answer["info"]["cost"] == pytest.approx(1000 * 3e-6 + 100 * 15e-6)
        messages = client.get(f"/session/{session}/message").json()
        assert [message["info"]["role"] for message in messages] == ["user"] + ["assistant"] * 3
        parts = [part for message in messages for part in message["parts"]]
        assert "I look first." in [p["text"] for p in parts if p["type"] == "reasoning"]
        tools = [part for part in parts if part["type"] == "tool"]
        assert [tool["state"]["status"] for tool in tools] == ["completed", "completed"]
        assert tools[1]["state"]["output"].strip() == "from the sandbox"
        # The result of the command went back to the model.
        assert "from the sandbox" in str(provider.requests[2].json)
        total = client.get(f"/session/{session}").json()
        assert total["tokens"]["input"] == 1200


@pytest.mark.parametrize(("kind", "npm"), WIRES)
def test_an_error_status_is_said_and_the_session_goes_on(
    server: Installation, kind: Any, npm: str
) -> None:
    with (
        kind([Reply(status=401), Reply(text="Better now.")]) as provider,
        server.client() as client,
    ):
        model = set_up_provider(client, f"fault-{kind.__name__.lower()}", npm, provider.base_url)
        session = new_session(client)
        failed = ask(client, session, "Hello?", model=model)
        assert failed["info"]["error"]["name"] == "ProviderAuthError"
        assert KEY not in str(failed)
        assert text_of(ask(client, session, "Again?", model=model)) == "Better now."


@pytest.mark.parametrize(("kind", "npm"), WIRES)
def test_a_stream_cut_in_the_middle_is_tried_again_and_doubles_nothing(
    server: Installation, kind: Any, npm: str
) -> None:
    replies = [Reply(text="word " * 60, cut_after=6), Reply(text="Whole."), Reply(text="More.")]
    with kind(replies) as provider, server.client() as client:
        model = set_up_provider(client, f"cut-{kind.__name__.lower()}", npm, provider.base_url)
        session = new_session(client)
        answer = ask(client, session, "Tell me.", model=model)
        assert "error" not in answer["info"]
        assert text_of(answer) == "Whole."
        assert [p["attempt"] for p in answer["parts"] if p["type"] == "retry"] == [1]
        assert text_of(ask(client, session, "Again.", model=model)) == "More."


def test_a_rate_limit_is_waited_out(server: Installation) -> None:
    limited = Reply(status=429, headers={"retry-after": "1"})
    replies = [limited, Reply(text="Thanks for waiting.")]
    with OpenAIServer(replies) as provider, server.client() as client:
        npm = "@ai-sdk/openai-compatible"
        model = set_up_provider(client, "limited", npm, provider.base_url)
        answer = ask(client, new_session(client), "Hello?", model=model)
        assert text_of(answer) == "Thanks for waiting."
        assert [p["attempt"] for p in answer["parts"] if p["type"] == "retry"] == [1]


def test_a_stop_ends_the_wait_for_the_next_try_at_once(server: Installation) -> None:
    limited = Reply(status=429, headers={"retry-after": "500"})
    with OpenAIServer([limited, Reply(text="Not asked.")]) as provider, server.client() as client:
        model = set_up_provider(client, "held", "@ai-sdk/openai-compatible", provider.base_url)
        session = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body("go", model))
        wait_for(lambda: client.get("/session/status").json().get(session, {}).get("next"))
        assert client.post(f"/session/{session}/abort").status_code == 200
        wait_for(lambda: session not in client.get("/session/status").json(), seconds=5)
        assert len(provider.requests) == 1


def test_a_turn_that_fills_the_disk_of_its_team_is_the_last(server: Installation) -> None:
    fills = {"tool": "bash", "input": {"command": "head -c 40M /dev/zero > large"}}
    server.run(LIMIT_DISK.format(team=server.team, most=30))
    with server.client() as client:
        client.patch("/config", json={"permission": {"bash": "allow"}})
        session = new_session(client)
        ask(client, session, script([{"text": "Nothing yet."}]))
        ask(client, session, script([fills], [{"text": "Done."}]))
        path = f"/session/{new_session(client)}/prompt_async"
        refused = wait_for(lambda: (said := client.post(path, json=body("More"))).is_error and said)
        assert refused.status_code == 409
        assert "of 30.0\xa0MB" in refused.json()["data"]["message"]
    server.run(LIMIT_DISK.format(team=server.team, most=None))
