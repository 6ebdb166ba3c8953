"""The model of the recorded cases: it plays the script that the newest prompt carries."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.providers.replies import Call, Reply
from tests.providers.servers import OpenAIServer, Request

_SCRIPT = re.compile(r"<<script(\[.*?\])script>>", re.S)
_WINDOW = 200_000


def play(request: Request) -> Reply:
    messages = request.json["messages"]
    found = [
        (place, match[1])
        for place, message in enumerate(messages)
        if message["role"] == "user"
        for match in _SCRIPT.finditer(_text(message["content"]))
    ]
    if not found:
        return Reply(text="hi")
    place, text = found[-1]
    steps = json.loads(text)
    number = sum(message["role"] == "assistant" for message in messages[place:])
    step = steps[min(number, len(steps) - 1)]
    if "status" in step:
        return Reply(status=step["status"], error={"error": {"message": step["message"]}})
    used, wrote = step["usage"]
    calls = tuple(
        Call(tool["name"], tool["args"], id=f"call_{place:04d}{number:04d}{index:04d}")
        for index, tool in enumerate(step.get("tools", ()))
    )
    return Reply(
        text=step["text"],
        reasoning=step.get("reasoning", ""),
        calls=calls,
        input_tokens=used,
        output_tokens=wrote,
        chunk_delay_s=step.get("gap", 0),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def settings(model: OpenAIServer) -> dict[str, Any]:
    def one(**more: Any) -> dict[str, Any]:
        limit = {"context": _WINDOW, "output": 8_000}
        return {"tool_call": True, "reasoning": True, "limit": limit, **more}

    efforts = {name: {"reasoningEffort": name} for name in ("low", "medium", "high")}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Mock",
        "options": {"baseURL": model.base_url, "apiKey": "key-dummy"},
        "models": {"m1": one(name="m1", variants=efforts), "m2": one(name="m2", reasoning=False)},
    }
    return {
        "model": "mock/m1",
        "provider": {"mock": provider},
        "permission": {"*": "allow", "bash": "ask", "edit": "ask", "webfetch": "ask"},
    }
