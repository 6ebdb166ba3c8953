from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx

INLINE = {"providerID": "demo", "modelID": "inline"}


def script(*steps: list[dict[str, Any]]) -> str:
    turn = [{"events": events} for events in steps]
    return f"<<script{json.dumps({'name': 'e2e', 'turns': [turn] * 9, 'otherwise': turn[-1:]})}>>"


def new_session(client: httpx.Client) -> str:
    answer = client.post("/session", json={})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def body(text: str, model: dict[str, str] = INLINE, **more: Any) -> dict[str, Any]:
    return {"parts": [{"type": "text", "text": text}], "model": model, **more}


def ask(client: httpx.Client, session: str, text: str, **more: Any) -> dict[str, Any]:
    answer = client.post(f"/session/{session}/message", json=body(text, **more))
    assert answer.status_code == 200, answer.text
    return answer.json()


def text_of(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def wait_for(check: Callable[[], Any], *, seconds: float = 20) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


def approve_everything(client: httpx.Client, stop: threading.Event) -> threading.Thread:
    def run() -> None:
        while not stop.wait(0.1):
            for request in client.get("/permission").json():
                client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
