"""GitHub with a person who allows every sign-in, and Copilot behind it, in the server's process."""

from __future__ import annotations

import time

import httpx

from tests.providers.llm.sign_in.vendors import GitHubServer

_MODEL = {
    "id": "gpt-4.1",
    "name": "GPT-4.1",
    "version": "gpt-4.1-2025-04-14",
    "model_picker_enabled": True,
    "capabilities": {
        "family": "gpt-4.1",
        "type": "chat",
        "limits": {"max_output_tokens": 16_384, "max_prompt_tokens": 111_000},
        "supports": {"tool_calls": True},
    },
}


class _Willing(GitHubServer):
    """Somebody enters each code as soon as it is there. Its clock is the real one."""

    def answer(self, request: httpx.Request) -> tuple[int, dict[str, object]]:
        self.clock = time.monotonic()
        return super().answer(request)

    def on_device(self, form: dict[str, object]) -> tuple[int, dict[str, object]]:
        status, body = super().on_device(form)
        for device in self.devices.values():
            device.is_allowed, device.interval_s = True, 1
        return status, {**body, "interval": 1}


# Of the process: each loop has connections of its own.
_GITHUB = _Willing()


class Played(httpx.AsyncBaseTransport):
    """Reaches GitHub and Copilot, and nothing else."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host in {"github.com", "api.github.com"}:
            return await _GITHUB.handle_async_request(request)
        if request.url.host == "api.githubcopilot.com" and request.url.path == "/models":
            assert request.headers["authorization"] == "Bearer gho_1"
            body = httpx.Response(200, json={"data": [_MODEL]}).content
            return httpx.Response(200, stream=httpx.ByteStream(body), request=request)
        raise httpx.ConnectError(f"nobody plays {request.url.host}", request=request)
